//! The oracles on fixed inputs: the same pseudo-random bytes in every run.

use topgap_kernel::bit_source::BitSource;
use topgap_oracles::tape::Tape;
use topgap_oracles::{
    Checked, constant_work, enclosures, fast_log2, floats, geometric, noisy_answers,
    noisy_candidates, ranking, select,
};

/// Inputs have fewer bytes than this.
const MAX_BYTES: u64 = 400;

/// Run a check on so many inputs, most of which must be long enough to be one.
fn check_all(check: fn(&[u8]) -> Checked, inputs: u32) {
    let mut bits = Tape::new(&[], 64);
    let mut long_enough = 0;
    for _ in 0..inputs {
        let Ok(length) = bits.bits(64);
        let byte = |_| bits.bits(8).map_or(0, |byte| u8::try_from(byte).expect("eight bits"));
        let data: Vec<u8> = (0..length % MAX_BYTES).map(byte).collect();
        long_enough += u32::from(check(&data).is_ok());
    }
    assert!(2 * long_enough > inputs, "only {long_enough} of {inputs} inputs are long enough");
}

#[test]
fn select_returns_the_winners_and_gaps_of_its_noise() {
    check_all(select::check, 4_000);
}

#[test]
fn constant_work_returns_the_winners_and_gaps_of_its_noise() {
    check_all(constant_work::check, 2_000);
}

#[test]
fn noisy_answers_are_those_of_their_noise() {
    check_all(noisy_answers::check, 4_000);
}

#[test]
fn noisy_candidates_are_all_that_can_win() {
    check_all(noisy_candidates::check, 4_000);
}

#[test]
fn ranking_agrees_with_the_plain_ranking() {
    check_all(ranking::check, 4_000);
}

#[test]
fn noise_is_what_its_uniform_number_says() {
    check_all(geometric::check, 2_000);
}

#[test]
fn enclosures_are_narrow_and_agree() {
    check_all(enclosures::check, 1_000);
}

#[test]
fn the_fast_logarithm_is_within_its_error() {
    check_all(fast_log2::check, 1_000);
}

#[test]
fn floats_are_rounded_down() {
    check_all(floats::check, 20_000);
}
