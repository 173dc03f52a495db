//! The whole kernel: winners and gaps, with a sentinel or none, by any plan and any division of the work.

use topgap_kernel::answers::Answers;
use topgap_kernel::quantities::{TickCount, Ticks, TicksPerUnit, Units};
use topgap_kernel::ranking::Selection;
use topgap_kernel::rate::Rate;
use topgap_kernel::select;
use topgap_kernel::threshold_plan::{MAX_LEADING_ZEROS, Plan};
use topgap_kernel::workers::Sequential;

use crate::Checked;
use crate::inputs::Inputs;
use crate::plain_ranking::ranked;
use crate::recorded::Recorded;
use crate::tape::Tape;

/// Make a release of these bytes, and check it.
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
    let parts = given.within(1, 4)? as usize;
    let width = 64 - if given.flag()? { given.within(0, 63)? } else { 0 };
    let lowest = per_unit.ticks(Units::MIN);
    let every = Plan { threshold: lowest, leading_zeros: 0, log_block: 0 };
    let plan = match given.within(0, 3)? {
        0 => Some(every),
        1 => Some(some_plan(&mut given, &units, k, per_unit)?),
        _ => None,
    };
    let mut draws = Recorded::new(Tape::new(given.rest(), width));
    let answers = Answers { units: &units, steps_per_unit };
    let mut workers = Sequential { sampler: &mut draws, parts };
    let Ok(selection) = select(answers, None, k, sentinel, &rate, plan, &mut workers);

    holds_whatever_was_drawn(&selection, answers, k, sentinel, &rate, draws.most_noise());
    // If every item draws noise, one after the other, all can be computed again.
    if plan.is_some_and(|plan| plan.threshold == lowest && plan.leading_zeros == 0) {
        assert_eq!(draws.others, 0, "nothing but noise is drawn");
        let (of_sentinel, of_items) = draws.noise.split_at(usize::from(sentinel.is_some()));
        assert_eq!(of_items.len(), units.len(), "every item draws its noise");
        let add =
            |(&unit, &noise): (&i64, &TickCount)| per_unit.ticks(Units(unit)) + noise.signed();
        let mut noisy: Vec<Ticks> = units.iter().zip(of_items).map(add).collect();
        noisy.extend(sentinel.iter().zip(of_sentinel).map(|(&each, noise)| each + noise.signed()));
        let mut plainly = ranked(&noisy, k, rate.refinement(), &draws.shuffled);
        cut(&mut plainly, units.len());
        assert_eq!(selection, plainly, "winners and gaps of the same noise");
    }
    Ok(())
}

/// How many winners there are at most, and a sentinel or none. It may lie anywhere above the lowest
/// answer that there can be, so that it is ranked whenever all items are.
pub(crate) fn some_cut(
    given: &mut Inputs,
    units: &[i64],
    per_unit: TicksPerUnit,
) -> crate::inputs::Result<(usize, Option<Ticks>)> {
    let items = u32::try_from(units.len()).expect("few items");
    if !given.flag()? {
        return Ok((given.within(1, items - 1)? as usize, None));
    }
    let k = given.within(1, items + 2)? as usize;
    let near = per_unit.ticks(Units(units[given.within(0, items - 1)? as usize]));
    let offset = Ticks(given.long()?.cast_signed() >> given.within(4, 127)?);
    // As production refuses others.
    let highest = Ticks(1 << 124);
    Ok((k, Some((near + offset).clamp(per_unit.ticks(Units::MIN), highest))))
}

/// Cut the list where an item comes that is none of so many.
pub(crate) fn cut(selection: &mut Selection, items: usize) {
    if let Some(sentinel) = selection.indices.iter().position(|&index| index == items) {
        selection.indices.truncate(sentinel);
        selection.gaps.truncate(sentinel);
    }
}

/// A plan that production might not make; there are more blocks than winners.
fn some_plan(
    given: &mut Inputs,
    units: &[i64],
    k: usize,
    per_unit: TicksPerUnit,
) -> crate::inputs::Result<Plan> {
    let near = units[given.within(0, u32::try_from(units.len() - 1).expect("few"))? as usize];
    let offset = given.word()?.cast_signed();
    let most = (units.len() / (k + 1)).checked_ilog2().unwrap_or(0);
    let log_block = given.within(0, most)?;
    let leading_zeros = given.within(0, MAX_LEADING_ZEROS)?;
    let threshold = per_unit.ticks(Units(near.saturating_add(offset >> given.within(0, 63)?)));
    Ok(Plan { threshold, leading_zeros, log_block })
}

/// No noise is negative, and none is larger than the largest that was drawn: so far and no farther
/// can it have moved an answer.
pub(crate) fn holds_whatever_was_drawn(
    selection: &Selection,
    answers: Answers,
    k: usize,
    sentinel: Option<Ticks>,
    rate: &Rate,
    Ticks(most_noise): Ticks,
) {
    let Selection { indices, gaps } = selection;
    let named = indices.len();
    assert!(
        named == k || (named < k && sentinel.is_some()),
        "k winners, or fewer above a sentinel"
    );
    assert_eq!(gaps.len(), named, "one gap each");
    let mut distinct = indices.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), named, "no item wins twice");
    assert!(distinct.last().is_none_or(|&last| last < answers.units.len()), "winners are items");

    let per_unit = rate.ticks_per_unit(answers.steps_per_unit);
    let plain = |index: usize| per_unit.ticks(Units(answers.units[index])).0;
    let mut downwards: Vec<i128> = (0..answers.units.len()).map(plain).collect();
    downwards.extend(sentinel.map(|answer| answer.0));
    downwards.sort_unstable_by(|a, b| b.cmp(a));
    let runner_up = match sentinel {
        Some(Ticks(answer)) if named < k => {
            let above = downwards.iter().filter(|&&each| each > answer + most_noise).count();
            assert!(above <= named, "an item above the sentinel is not named");
            answer
        }
        _ => downwards[k],
    };
    for (rank, &gap) in gaps.iter().enumerate() {
        let answer = plain(indices[rank]);
        // The next in order is a winner, or at least the plain answer of its rank.
        let next = indices.get(rank + 1).map_or(runner_up, |&next| plain(next));
        let (least, most) = (answer - next - most_noise, answer - next + most_noise);
        assert!(most >= 0, "an item wins that noise cannot have raised so far");
        let gap = i128::try_from(gap.0).expect("a gap of fewer than 128 bits");
        assert!(gap <= most >> rate.refinement(), "a gap is larger than noise can make it");
        assert!(gap >= (least - 1) >> rate.refinement(), "a gap is smaller than it can be");
    }
}
