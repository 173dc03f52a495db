//! The kernel on a part of the answers: who can still win.

use topgap_kernel::answers::Answers;
use topgap_kernel::noise::Exponential;
use topgap_kernel::noisy_candidates;
use topgap_kernel::quantities::{Ticks, Units};
use topgap_kernel::workers::Sequential;

use crate::Checked;
use crate::inputs::Inputs;
use crate::recorded::Recorded;
use crate::tape::Tape;

/// Find those that can still win, and check whether they can, and the others cannot.
///
/// # Errors
/// When there are too few bytes.
///
/// # Panics
/// When a check fails.
pub fn check(data: &[u8]) -> Checked {
    let mut given = Inputs::new(data);
    let Some((steps_per_unit, rate)) = given.rate()? else { return Ok(()) };
    let units = given.units()?;
    let needed = given.within(1, 3100)? as usize;
    let parts = given.within(1, 4)? as usize;
    let width = 64 - if given.flag()? { given.within(0, 63)? } else { 0 };
    let per_unit = rate.ticks_per_unit(steps_per_unit);
    // As production clamps it.
    let bound = 1_i128 << 125;
    let floor = match given.within(0, 3)? {
        0 => None,
        1 => Some(Ticks(given.long()?.cast_signed().clamp(-bound, bound))),
        _ => {
            let near =
                units[given.within(0, u32::try_from(units.len() - 1).expect("few"))? as usize];
            let offset = given.long()?.cast_signed() >> given.within(8, 127)?;
            Some(per_unit.ticks(Units(near)) + Ticks(offset))
        }
    };
    let mut draws = Recorded::new(Tape::new(given.rest(), width));
    let answers = Answers { units: &units, steps_per_unit };
    let mut workers = Sequential { sampler: &mut draws, parts };
    let Ok(found) =
        noisy_candidates(answers, needed, floor, Exponential(&rate), None, &mut workers);

    let most_noise = draws.most_noise();
    let mut is_found = vec![false; units.len()];
    for each in &found {
        assert!(!is_found[each.index], "no item is found twice");
        is_found[each.index] = true;
        let noise = each.noisy_answer - per_unit.ticks(Units(units[each.index]));
        assert!((Ticks(0)..=most_noise).contains(&noise), "noise is not negative, and was drawn");
    }
    let mut noisy: Vec<Ticks> = found.iter().map(|each| each.noisy_answer).collect();
    noisy.sort_unstable_by(|a, b| b.cmp(a));
    // Who is not found lies below `needed` others, or below the floor.
    let needed = needed.min(units.len());
    let bar = noisy.get(needed - 1).copied();
    for (index, &unit) in units.iter().enumerate().filter(|each| !is_found[each.0]) {
        let answer = per_unit.ticks(Units(unit));
        let is_beaten =
            bar.is_some_and(|bar| answer < bar) || floor.is_some_and(|floor| answer < floor);
        assert!(is_beaten, "item {index} can win and was not found");
    }
    Ok(())
}
