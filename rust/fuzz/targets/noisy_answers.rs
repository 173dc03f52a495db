//! Fuzzes `noisy_answers`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use topgap_oracles::noisy_answers::check;

fuzz_target!(|data: &[u8]| -> Corpus { check(data).map_or(Corpus::Reject, |()| Corpus::Keep) });
