//! The same selection in each of many groups, with noise of its own for each.

use crate::sampler::Sampler;
use crate::workers::Workers;

/// Groups drawn between two checkpoints; a large group has its own.
const GROUPS_PER_CHECKPOINT: usize = 64;

/// Draw for each group, and return what was drawn in the order of the groups, in parts.
///
/// A worker draws for its groups one after the other, from its own sampler and never from the same
/// place in it twice: so what is drawn for different groups is independent.
///
/// # Errors
/// When the sampler ends or a checkpoint asks to stop.
pub fn draw_each_group<T: Default + Send, W: Workers>(
    works: &[usize],
    workers: &mut W,
    draw: impl Fn(usize, &mut W::Sampler, &mut T) -> Result<(), W::Stop> + Sync,
) -> Result<Vec<T>, W::Stop> {
    let mut parts = divide(works, workers.size());
    workers.each(&mut parts, |part, sampler| {
        for group in part.first..part.end {
            if (group - part.first).is_multiple_of(GROUPS_PER_CHECKPOINT) {
                sampler.checkpoint()?;
            }
            draw(group, sampler, &mut part.drawn)?;
        }
        Ok(())
    })?;
    Ok(parts.into_iter().map(|part| part.drawn).collect())
}

/// The groups of one worker, and what was drawn for them.
struct Part<T> {
    first: usize,
    end: usize,
    drawn: T,
}

/// Divide groups that are so much work each into so many parts or fewer, each about as much work.
fn divide<T: Default>(works: &[usize], size: usize) -> Vec<Part<T>> {
    let whole: usize = works.iter().sum();
    let mut parts = Vec::with_capacity(size);
    let (mut first, mut done) = (0, 0_usize);
    for (group, work) in works.iter().enumerate() {
        done += work;
        let is_share = done >= (whole / size).saturating_mul(parts.len() + 1);
        if is_share && parts.len() + 1 < size {
            parts.push(Part { first, end: group + 1, drawn: T::default() });
            first = group + 1;
        }
    }
    parts.push(Part { first, end: works.len(), drawn: T::default() });
    parts
}
