//! From noisy answers to winners and gaps in the plainest way, to compare with the kernel.

use std::cmp::Reverse;

use topgap_kernel::quantities::{Steps, Ticks};
use topgap_kernel::ranking::Selection;

/// The order that these draws of a shuffle make of so many items; without draws, their own.
///
/// # Panics
/// When a draw is no index.
#[must_use]
pub fn order(count: usize, shuffled: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for (last, &other) in (1..count).rev().zip(shuffled) {
        order.swap(last, usize::try_from(other).expect("an index"));
    }
    order
}

/// Rank noisy answers whose remainders are in that order, the largest first.
#[must_use]
pub fn ranked(noisy: &[Ticks], k: usize, refinement: u32, shuffled: &[u64]) -> Selection {
    let mut order = order(noisy.len(), shuffled);
    let mut place = vec![0; noisy.len()];
    for (at, &item) in order.iter().enumerate() {
        place[item] = at;
    }
    order.sort_by_key(|&item| (Reverse(noisy[item]), place[item]));
    let gap = |pair: &[usize]| {
        let borrowed = i128::from(place[pair[0]] > place[pair[1]]);
        Steps(((noisy[pair[0]].0 - noisy[pair[1]].0 - borrowed) >> refinement).cast_unsigned())
    };
    let gaps = order.windows(2).take(k).map(gap).collect();
    order.truncate(k);
    Selection { indices: order, gaps }
}
