//! Who may vote, and signatures of votes; see `countersign_fuzz::ballot`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| countersign_fuzz::ballot::check(data));
