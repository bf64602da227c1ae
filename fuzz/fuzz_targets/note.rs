//! Keys and checkpoints; see `countersign_fuzz::note`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| countersign_fuzz::note::check(data));
