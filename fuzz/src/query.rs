//! The query language: every text is a question or has a fault that stands in it, and what is offered can be typed.

use countersign::audit::query::{Query, offers};
use jiff::Timestamp;

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let chars = text.chars().count();
    let now = Timestamp::UNIX_EPOCH;
    match Query::parse(&text, now) {
        Ok(query) => {
            let _ = query.hint();
            assert!(text.trim().is_empty() || !query.is_empty(), "{text:?}");
        }
        Err(error) => {
            assert!(error.column >= 1, "{error:?}");
            let end = error.column - 1 + error.length;
            assert!(end <= error.question.chars().count() + 1, "{error:?}");
            assert_eq!(error.marked()[0], error.question);
        }
    }
    for at in [0, chars / 2, chars] {
        let _ = offers(&text, at, |_| vec!["etl-bot".to_owned()]);
    }
}
