//! The same checks without a fuzzer, on bytes that nothing guides: `blind TARGET INPUTS`. The tests
//! run it on kernels that are broken.

use std::env::args;
use std::process::exit;

use topgap_kernel::bit_source::BitSource;
use topgap_oracles::{
    Checked, constant_work, enclosures, fast_log2, floats, geometric, noisy_answers,
    noisy_candidates, ranking, select, tape::Tape,
};

/// Inputs have at most so many bytes.
const MOST: u64 = 400;

fn main() {
    let given: Vec<String> = args().collect();
    let check: fn(&[u8]) -> Checked = match given.get(1).map(String::as_str) {
        Some("select") => select::check,
        Some("constant_work") => constant_work::check,
        Some("noisy_answers") => noisy_answers::check,
        Some("noisy_candidates") => noisy_candidates::check,
        Some("ranking") => ranking::check,
        Some("geometric") => geometric::check,
        Some("enclosures") => enclosures::check,
        Some("fast_log2") => fast_log2::check,
        Some("floats") => floats::check,
        _ => {
            eprintln!("usage: blind TARGET INPUTS");
            exit(2)
        }
    };
    let inputs: u64 = given.get(2).and_then(|inputs| inputs.parse().ok()).unwrap_or(10_000);
    let mut bits = Tape::new(&[], 64);
    let mut made = 0;
    for _ in 0..inputs {
        let Ok(length) = bits.bits(64);
        let byte = |_| bits.bits(8).map_or(0, |byte| u8::try_from(byte).expect("eight bits"));
        let data: Vec<u8> = (0..length % MOST).map(byte).collect();
        made += u64::from(check(&data).is_ok());
    }
    println!("{inputs} inputs, {made} of them long enough");
}
