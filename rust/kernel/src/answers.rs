//! The answers as the kernel reads them, and one pass over all of them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use pulp::{Arch, NullaryFnOnce};

use crate::quantities::Units;
use crate::sampler::Sampler;
use crate::workers::Workers;

/// One answer per item: a whole number of units of `steps_per_unit` steps each.
#[derive(Clone, Copy)]
pub struct Answers<'a> {
    /// The answers, in units.
    pub units: &'a [i64],
    /// Steps of the resolution in one unit; at least 1.
    pub steps_per_unit: u64,
}

impl Answers<'_> {
    /// The answer of the item at a position.
    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> Units {
        Units(self.units[index])
    }
}

/// The largest answer, in units, of each block of 2^`log_size` neighbours.
pub(crate) struct Blocks<'a> {
    pub(crate) log_size: u32,
    pub(crate) largest: Cow<'a, [i64]>,
}

/// To look at so many blocks, or items, of so many items costs little.
pub(crate) fn few_of(items: usize) -> usize {
    (3 * items.isqrt()).clamp(110, MOST_FEW)
}

/// However many items there are, so many are few.
const MOST_FEW: usize = 1024;

/// The largest blocks have 2^`MAX_LOG_SIZE` items.
const MAX_LOG_SIZE: u32 = 12;

/// Items looked at between two checkpoints.
const ITEMS_PER_CHECKPOINT: usize = 1 << 20;

impl<'a> Blocks<'a> {
    /// How large blocks should be, as a power of two, for that many items: as large as leaves a few
    /// blocks, and twice as many as are needed; and not so large that a second look costs much.
    pub(crate) fn fitting(items: usize, needed: usize) -> u32 {
        let largest =
            (items / few_of(items).max(needed.saturating_mul(2))).checked_ilog2().unwrap_or(0);
        largest.min(MAX_LOG_SIZE)
    }

    /// Look at every answer once, of which there is at least one.
    pub(crate) fn new<W: Workers>(
        units: &'a [i64],
        log_size: u32,
        workers: &mut W,
    ) -> Result<Self, W::Stop> {
        if log_size == 0 {
            return Ok(Self { log_size, largest: Cow::Borrowed(units) });
        }
        let size = 1 << log_size;
        let mut largest = vec![i64::MIN; units.len().div_ceil(size)];
        let each = largest.len().div_ceil(workers.size());
        let mut parts: Vec<_> =
            units.chunks(each << log_size).zip(largest.chunks_mut(each)).collect();
        workers.each(&mut parts, |(units, largest), sampler| {
            let stretch = ITEMS_PER_CHECKPOINT.next_multiple_of(size);
            for (i, units) in units.chunks(stretch).enumerate() {
                if i > 0 {
                    sampler.checkpoint()?;
                }
                let largest = &mut largest[(i * stretch) >> log_size..];
                Arch::new().dispatch(FindLargest { units, size, largest });
            }
            Ok(())
        })?;
        Ok(Self { log_size, largest: Cow::Owned(largest) })
    }

    /// Ranges of blocks, at most so many, that are about equally long and make up all.
    pub(crate) fn divided(&self, parts: usize) -> Vec<Range<usize>> {
        let blocks = self.largest.len();
        let each = blocks.div_ceil(parts).max(1);
        (0..blocks).step_by(each).map(|first| first..blocks.min(first + each)).collect()
    }

    /// The items in a block, a power of two; the last block may have fewer.
    pub(crate) fn size(&self) -> usize {
        1 << self.log_size
    }

    /// The indices of the items in a block, of so many items in all.
    pub(crate) fn items(&self, block: usize, all: usize) -> Range<usize> {
        self.items_of(&(block..block + 1), all)
    }

    /// The indices of the items in some blocks, of so many items in all.
    pub(crate) fn items_of(&self, blocks: &Range<usize>, all: usize) -> Range<usize> {
        blocks.start << self.log_size..all.min(blocks.end << self.log_size)
    }

    /// Add to `found` the indices of the items in a block that have `low` units or more.
    pub(crate) fn push_reaching(
        &self,
        units: &[i64],
        block: usize,
        low: Units,
        found: &mut Vec<usize>,
    ) {
        let items = self.items(block, units.len());
        let first = items.start;
        Arch::new().dispatch(PushReaching { units: &units[items], first, low: low.0, found });
    }

    /// An answer that at least `needed` items reach, of which there is at least one, and not many
    /// more; None if there are fewer blocks.
    pub(crate) fn anchor(&self, needed: usize) -> Option<Units> {
        let at = self.largest.len().checked_sub(needed)?;
        let mut largest = self.largest.to_vec();
        Some(Units(*largest.select_nth_unstable(at).1))
    }

    /// A higher anchor than that: the largest one. It is worth its cost when answers are sorted, so
    /// that neighbours are large together.
    pub(crate) fn highest_anchor(&self, units: &[i64], anchor: Units, needed: usize) -> Units {
        let blocks = 0..self.largest.len();
        let mut blocks: Vec<usize> =
            blocks.filter(|&block| self.largest[block] >= anchor.0).collect();
        blocks.sort_unstable_by_key(|&block| Reverse(self.largest[block]));
        // The largest so far; of those up to `bar` there are enough.
        let mut best = Vec::with_capacity(few_of(units.len()) + 2 * needed);
        let mut bar = i64::MIN;
        for block in blocks {
            if best.len() >= needed && self.largest[block] <= bar {
                break;
            }
            for &unit in &units[self.items(block, units.len())] {
                if unit > bar || best.len() < needed {
                    best.push(unit);
                }
                if best.len() == best.capacity() {
                    bar = *best.select_nth_unstable_by_key(needed - 1, |&unit| Reverse(unit)).1;
                    best.truncate(needed);
                }
            }
        }
        Units(*best.select_nth_unstable_by_key(needed - 1, |&unit| Reverse(unit)).1)
    }

    /// Whether this item is the one that its block is known by.
    pub(crate) fn is_first_largest(&self, units: &[i64], index: usize) -> bool {
        let block = index >> self.log_size;
        let first = block << self.log_size;
        units[index] == self.largest[block] && !units[first..index].contains(&units[index])
    }
}

/// Finds the largest answer of each block with the widest instructions that the machine has.
struct FindLargest<'a> {
    units: &'a [i64],
    size: usize,
    largest: &'a mut [i64],
}

impl NullaryFnOnce for FindLargest<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (block, largest) in self.units.chunks(self.size).zip(self.largest) {
            *largest = block.iter().copied().fold(i64::MIN, i64::max);
        }
    }
}

/// Items of a block that are looked at together.
pub(crate) const ITEMS_PER_PIECE: usize = 64;

/// Finds the few items of many units with the widest instructions that the machine has.
struct PushReaching<'a> {
    units: &'a [i64],
    first: usize,
    low: i64,
    found: &'a mut Vec<usize>,
}

impl NullaryFnOnce for PushReaching<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (i, piece) in self.units.chunks(ITEMS_PER_PIECE).enumerate() {
            if piece.iter().copied().fold(i64::MIN, i64::max) >= self.low {
                let items = (self.first + i * ITEMS_PER_PIECE..).zip(piece);
                self.found.extend(items.filter(|each| *each.1 >= self.low).map(|each| each.0));
            }
        }
    }
}
