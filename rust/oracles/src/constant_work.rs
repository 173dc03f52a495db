//! The release with the same work for all answers. Every item draws its noise, so all of it can be
//! computed again.

use topgap_kernel::answers::Answers;
use topgap_kernel::constant_work::select_constant_work;
use topgap_kernel::quantities::{Ticks, Units};

use crate::Checked;
use crate::inputs::Inputs;
use crate::plain_ranking::{order, ranked};
use crate::recorded::Recorded;
use crate::select::{cut, holds_whatever_was_drawn, some_cut};
use crate::tape::Tape;

/// Make a release of these bytes, and compare it with the plain way.
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
    let per_unit = rate.ticks_per_unit(steps_per_unit);
    let (k, sentinel) = some_cut(&mut given, &units, per_unit)?;
    let width = 64 - if given.flag()? { given.within(0, 63)? } else { 0 };
    let mut draws = Recorded::new(Tape::new(given.rest(), width));
    let answers = Answers { units: &units, steps_per_unit };
    let Ok(selection) = select_constant_work(answers, k, sentinel, &rate, &mut draws);

    holds_whatever_was_drawn(&selection, answers, k, sentinel, &rate, draws.most_noise());
    let mut noisy: Vec<Ticks> = units.iter().map(|&unit| per_unit.ticks(Units(unit))).collect();
    noisy.extend(sentinel);
    assert_eq!(draws.noise.len(), noisy.len(), "every item draws its noise, and the sentinel");
    assert_eq!(draws.shuffled.len(), noisy.len() - 1, "an order of all is drawn");
    for (item, &noise) in order(noisy.len(), &draws.shuffled).into_iter().zip(&draws.noise) {
        noisy[item] = noisy[item] + noise.signed();
    }
    let mut plainly = ranked(&noisy, k, rate.refinement(), &draws.shuffled);
    cut(&mut plainly, units.len());
    assert_eq!(selection, plainly, "winners and gaps of the same noise");
    Ok(())
}
