//! The query language; see `countersign_fuzz::query`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| countersign_fuzz::query::check(data));
