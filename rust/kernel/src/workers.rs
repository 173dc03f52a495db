//! How parts of the work are run: one after the other, or in threads with a sampler each.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::Duration;

use crate::sampler::Sampler;

/// How often the calling thread, while it waits for others, asks whether to go on.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Run the work on the parts of a whole. Parts are independent, and so is their randomness.
pub trait Workers {
    /// What each part draws from.
    type Sampler: Sampler<Stop = Self::Stop>;

    /// Why the work ends early.
    type Stop: Send;

    /// How many parts there should be.
    fn size(&self) -> usize;

    /// The sampler for work that is not divided.
    fn main_sampler(&mut self) -> &mut Self::Sampler;

    /// Do the work on each of the parts, of which there are no more than `size`.
    ///
    /// # Errors
    /// When there are no more draws or a checkpoint asks to stop.
    fn each<P: Send>(
        &mut self,
        parts: &mut [P],
        work: impl Fn(&mut P, &mut Self::Sampler) -> Result<(), Self::Stop> + Sync,
    ) -> Result<(), Self::Stop>;
}

/// One after the other, all parts from the same sampler.
pub struct Sequential<'a, S> {
    /// What is drawn from.
    pub sampler: &'a mut S,
    /// How many parts there should be.
    pub parts: usize,
}

impl<S: Sampler> Workers for Sequential<'_, S>
where
    S::Stop: Send,
{
    type Sampler = S;
    type Stop = S::Stop;

    fn size(&self) -> usize {
        self.parts
    }

    fn main_sampler(&mut self) -> &mut S {
        self.sampler
    }

    fn each<P: Send>(
        &mut self,
        parts: &mut [P],
        work: impl Fn(&mut P, &mut S) -> Result<(), S::Stop> + Sync,
    ) -> Result<(), S::Stop> {
        parts.iter_mut().try_for_each(|part| work(part, self.sampler))
    }
}

/// All at once. The first sampler belongs to the calling thread.
///
/// When a checkpoint of one asks to stop, those of the others should do so too.
pub struct Threads<S>(Vec<S>);

impl<S> Threads<S> {
    /// Threads with these samplers, one each.
    ///
    /// # Panics
    /// When there are none.
    #[must_use]
    pub fn new(samplers: Vec<S>) -> Self {
        assert!(!samplers.is_empty(), "there must be a worker");
        Self(samplers)
    }
}

impl<S: Sampler + Send> Workers for Threads<S>
where
    S::Stop: Send,
{
    type Sampler = S;
    type Stop = S::Stop;

    fn size(&self) -> usize {
        self.0.len()
    }

    fn main_sampler(&mut self) -> &mut S {
        &mut self.0[0]
    }

    fn each<P: Send>(
        &mut self,
        parts: &mut [P],
        work: impl Fn(&mut P, &mut S) -> Result<(), S::Stop> + Sync,
    ) -> Result<(), S::Stop> {
        assert!(parts.len() <= self.0.len(), "there are more parts than threads");
        let Some((first_part, parts)) = parts.split_first_mut() else { return Ok(()) };
        let (lead, others) = self.0.split_first_mut().expect("at least one");
        let parts_left = parts.len();
        let left = Mutex::new(parts.iter_mut().zip(others));
        let work_on_one = || {
            let next = left.lock().expect("nobody panics with it").next();
            next.map(|(part, sampler)| work(part, sampler))
        };
        // Nothing is sent: the channel closes when the last thread has let go of its end.
        let (working, all_done) = channel::<()>();
        scope(|scope| {
            let start = |_| {
                let working = working.clone();
                let one = move || {
                    let _working = working;
                    work_on_one().unwrap_or(Ok(()))
                };
                Builder::new().spawn_scoped(scope, one)
            };
            // If the system has no more threads, the work is done by those that there are.
            let threads: Vec<_> = (0..parts_left).map(start).map_while(Result::ok).collect();
            drop(working);
            let mut done = work(first_part, lead);
            for _ in threads.len()..parts_left {
                done = done.and_then(|()| work_on_one().unwrap_or(Ok(())));
            }
            while all_done.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                done = done.and_then(|()| lead.checkpoint());
            }
            for thread in threads {
                let theirs = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                done = done.and(theirs);
            }
            done
        })
    }
}
