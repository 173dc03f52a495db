//! The kernel with Laplace noise, whose noisy answers are released.

use topgap_kernel::answers::Answers;
use topgap_kernel::constant_work::select_noisy_answers_constant_work;
use topgap_kernel::quantities::{Ticks, Units};
use topgap_kernel::ranking::NoisySelection;
use topgap_kernel::rate::Rate;
use topgap_kernel::select_noisy_answers;
use topgap_kernel::threshold_plan::Plan;
use topgap_kernel::workers::Sequential;

use crate::Checked;
use crate::inputs::Inputs;
use crate::plain_ranking::order;
use crate::recorded::Recorded;
use crate::tape::Tape;

/// Make a release of these bytes, and check it: by a plan of the kernel's own, by one that draws every
/// item, or by constant work.
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
    let k = given.within(1, u32::try_from(units.len() - 1).expect("few items"))? as usize;
    let parts = given.within(1, 4)? as usize;
    let way = given.within(0, 2)?;
    let width = 64 - if given.flag()? { given.within(0, 63)? } else { 0 };
    let answers = Answers { units: &units, steps_per_unit };
    let mut draws = Recorded::new(Tape::new(given.rest(), width));
    if way == 0 {
        let Ok(selection) = select_noisy_answers_constant_work(answers, k, &rate, &mut draws);
        assert_eq!(draws.laplace.len(), units.len(), "every item draws its noise");
        let order = order(units.len(), &draws.shuffled);
        holds(&selection, answers, k);
        fits_its_noise(&selection, answers, &rate, order.into_iter().zip(&draws.laplace));
        return Ok(());
    }
    // So low that every item reaches it, or draws anew.
    let every = Plan { threshold: Ticks(-(1 << 125)), leading_zeros: 0, log_block: 0 };
    let plan = (way == 1).then_some(every);
    let mut workers = Sequential { sampler: &mut draws, parts };
    let Ok(selection) = select_noisy_answers(answers, None, k, None, &rate, plan, &mut workers);
    holds(&selection, answers, k);
    if way == 1 {
        assert_eq!(draws.others, 0, "nothing but noise is drawn");
        assert_eq!(draws.laplace.len(), units.len(), "every item draws its noise");
        fits_its_noise(&selection, answers, &rate, (0..units.len()).zip(&draws.laplace));
    }
    Ok(())
}

/// There are k different winners, and their noisy answers fall.
fn holds(selection: &NoisySelection, answers: Answers, k: usize) {
    let NoisySelection { indices, noisy_answers } = selection;
    assert_eq!(indices.len(), k, "k winners");
    assert_eq!(noisy_answers.len(), k + 1, "their noisy answers, and the next");
    let mut distinct = indices.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), k, "no item wins twice");
    assert!(distinct[k - 1] < answers.units.len(), "winners are items");
    assert!(noisy_answers.is_sorted_by(|a, b| a >= b), "from the largest down");
}

/// The winners have the largest of these noisy answers, and each its own.
fn fits_its_noise<'a>(
    selection: &NoisySelection,
    answers: Answers,
    rate: &Rate,
    drawn: impl Iterator<Item = (usize, &'a Ticks)>,
) {
    let per_unit = rate.ticks_per_unit(answers.steps_per_unit);
    let mut noisy = vec![Ticks(0); answers.units.len()];
    for (index, &noise) in drawn {
        noisy[index] = per_unit.ticks(Units(answers.units[index])) + noise;
    }
    for (&index, &noisy_answer) in selection.indices.iter().zip(&selection.noisy_answers) {
        assert_eq!(noisy[index], noisy_answer, "a winner's noisy answer is its own");
    }
    noisy.sort_unstable_by(|a, b| b.cmp(a));
    noisy.truncate(selection.noisy_answers.len());
    assert_eq!(noisy, selection.noisy_answers, "the largest noisy answers");
}
