//! Fuzzes `floats`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use topgap_oracles::floats::check;

fuzz_target!(|data: &[u8]| -> Corpus { check(data).map_or(Corpus::Reject, |()| Corpus::Keep) });
