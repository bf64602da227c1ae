//! The reader of a log; see `countersign_fuzz::log`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| countersign_fuzz::log::check(data));
