//! Worker threads at work, for `ThreadSanitizer` to watch: `threads ROUNDS`.

use std::env::args;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use num_bigint::BigUint;
use topgap_kernel::answers::Answers;
use topgap_kernel::bit_source::{Cipher, Key};
use topgap_kernel::enclosures::Ratio;
use topgap_kernel::noise::Laplace;
use topgap_kernel::quantities::Ticks;
use topgap_kernel::rate::{GRID_BITS, Rate};
use topgap_kernel::workers::{Threads, Workers};
use topgap_kernel::{noisy_candidates, select};

/// The work is to end.
#[derive(Debug)]
struct Stopped;

type Checkpoint = Box<dyn FnMut() -> Result<(), Stopped> + Send>;

fn main() {
    let rounds: u32 = args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(100);
    set_hook(Box::new(|_| {})); // panics are part of it
    let mut counts = [0; 3];
    for round in 0..rounds {
        work(round, &mut counts);
    }
    let [done, stopped, panicked] = counts;
    println!("{rounds} rounds: {done} calls done, {stopped} stopped, {panicked} panicked");
    assert!(done > 0 && (rounds < 50 || (stopped > 0 && panicked > 0)), "each way is gone");
}

/// Select, select from a part, and stop or panic amid the work, in threads.
fn work(round: u32, counts: &mut [u32; 3]) {
    let (size, k) = (10_000 + 7_919 * (round as usize % 13), 1 + 37 * (round as usize % 5));
    let units: Vec<i64> =
        (0..size as u64).map(|i| (i.wrapping_mul(0x9e37_79b9) % 1000).cast_signed()).collect();
    let answers = Answers { units: &units, steps_per_unit: 10 };
    let exact = Ratio { numerator: BigUint::from(1_u8), denominator: BigUint::from(100_u8) };
    let rate = Rate::new(exact, GRID_BITS, 50).expect("an everyday rate");
    let threads = 2 + round as usize % 6;
    let done = match round % 4 {
        0 => noisy_candidates(
            answers,
            k + 1,
            Some(Ticks(5)),
            Laplace(&rate),
            None,
            &mut workers(threads),
        )
        .is_ok(),
        _ => select(answers, None, k, None, &rate, None, &mut workers(threads)).is_ok(),
    };
    counts[usize::from(!done)] += 1;

    // A part that stops, or that panics, which comes out in the calling thread: when all others
    // have ended.
    let mut parts: Vec<u32> = (0..u32::try_from(threads).expect("few")).collect();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        workers(threads).each(&mut parts, |part, _| {
            *part += 1;
            match round % 3 {
                0 if *part == 1 + round % 7 => Err(Stopped),
                1 if *part == 1 + round % 7 => panic!("on purpose"),
                _ => Ok(()),
            }
        })
    }));
    counts[ended.map_or(2, |ended| usize::from(ended.is_err()))] += 1;
}

/// Threads with streams of their own.
fn workers(threads: usize) -> Threads<Cipher<Checkpoint>> {
    let key = Key::received([7; 32]);
    let cipher = |number| Cipher::of(&key, number, Box::new(|| Ok(())) as Checkpoint);
    Threads::new((0..threads as u64).map(cipher).collect())
}
