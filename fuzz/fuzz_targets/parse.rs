//! Scan, parse and a bare walk: text that passes the scan can be parsed, walked and dropped on the
//! worker's stack; the same text gives the same outline; every node lies inside the text; no name
//! is invented; a comment at the end changes nothing.
#![no_main]

use countersign::analysis::outline::{outline, spans};
use countersign_fuzz::{WORKER, on_stack};
use libfuzzer_sys::fuzz_target;
use unicode_normalization::UnicodeNormalization as _;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    on_stack(WORKER, || check(text));
});

fn check(text: &str) {
    let Ok(first) = outline(text) else { return };
    assert_eq!(outline(text).as_ref(), Ok(&first), "not deterministic");
    for span in spans(text).expect("what was read once is read again") {
        assert!(
            text.get(span.clone()).is_some(),
            "{span:?} is not a part of the text"
        );
    }
    let folded: String = text.nfkc().collect();
    for part in first.names.iter().flat_map(|name| name.split('.')) {
        assert!(folded.contains(part), "`{part}` is not in the text");
    }
    // A backslash would join the comment to its line.
    if !text.ends_with('\\') {
        assert_eq!(outline(&format!("{text}\n# end\n")).as_ref(), Ok(&first));
    }
}
