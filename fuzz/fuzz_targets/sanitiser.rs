//! The sanitisers: their output has no hidden characters and no terminal controls; pieces cover the
//! source; cut text fits; displayed JSON is the same JSON.
#![no_main]

use countersign::model::{visible, visible_json};
use countersign::tui::text::{cut, pieces, plain, width};
use countersign_fuzz::is_hidden;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    assert!(!plain(&text).chars().any(is_hidden), "the screen's text");
    let mut at = 0;
    for piece in pieces(&text) {
        assert_eq!(piece.start, at);
        assert!(piece.width >= 1 && piece.end > piece.start);
        assert_eq!(
            pieces(&text[at..]).next().map(|p| p.shown),
            Some(piece.shown),
            "a row must not depend on what precedes it"
        );
        at = piece.end;
    }
    assert_eq!(at, text.len());
    for columns in [0, 1, 7, 80] {
        assert!(width(cut(&text, columns)) <= columns);
    }

    let shown = visible(&text);
    assert!(!shown.chars().any(is_hidden), "the log's text");
    assert_eq!(visible(&shown), shown, "not stable");
    let json = serde_json::to_string(&text).expect("JSON");
    let shown = visible_json(&json);
    assert!(!shown.chars().any(is_hidden), "JSON");
    assert_eq!(
        serde_json::from_str::<String>(&shown).expect("JSON"),
        text,
        "other JSON"
    );
});
