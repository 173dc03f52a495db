//! The order of candidates, and their gaps.

use topgap_kernel::quantities::{TickCount, Ticks};
use topgap_kernel::ranking::{Candidate, rank};

use crate::Checked;
use crate::inputs::Inputs;
use crate::plain_ranking::ranked;
use crate::recorded::Recorded;
use crate::tape::Tape;

/// Rank candidates of any excess, and compare with the plain way.
///
/// # Errors
/// When there are too few bytes.
///
/// # Panics
/// When a check fails.
pub fn check(data: &[u8]) -> Checked {
    let mut given = Inputs::new(data);
    let refinement = given.within(0, 60)?;
    let count = given.within(2, 60)?;
    let base = given.long()? >> 2;
    let spread = given.within(1, 127)?;
    let mut excesses = Vec::new();
    for _ in 0..count {
        excesses.push(TickCount((base ^ (given.long()? >> spread)) & (u128::MAX >> 2)));
    }
    let k = given.within(1, count - 1)? as usize;
    let candidate = |(index, &excess): (usize, &TickCount)| Candidate { excess, index };
    let candidates = excesses.iter().enumerate().map(candidate).collect();
    let mut draws = Recorded::new(Tape::new(given.rest(), 64));
    let Ok(selection) = rank(candidates, k, refinement, &mut draws);
    let signed: Vec<Ticks> = excesses.iter().map(|excess| excess.signed()).collect();
    let plainly = ranked(&signed, k, refinement, &draws.shuffled);
    assert_eq!(selection, plainly, "winners and gaps of the same candidates");
    Ok(())
}
