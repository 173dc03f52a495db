//! From noisy values to winners and gaps in the plainest way, to compare the kernel's with.

use std::cmp::Reverse;

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

/// Rank values whose remainders are in that order, the largest first.
#[must_use]
pub fn ranked(values: &[i128], k: usize, refinement: u32, shuffled: &[u64]) -> Selection {
    let mut order = order(values.len(), shuffled);
    let mut place = vec![0; values.len()];
    for (at, &item) in order.iter().enumerate() {
        place[item] = at;
    }
    order.sort_by_key(|&item| (Reverse(values[item]), place[item]));
    let gap = |pair: &[usize]| {
        let borrowed = i128::from(place[pair[0]] > place[pair[1]]);
        ((values[pair[0]] - values[pair[1]] - borrowed) >> refinement).cast_unsigned()
    };
    let gaps = order[..=k].windows(2).map(gap).collect();
    order.truncate(k);
    Selection { indices: order, gaps }
}
