//! `traceparent` of W3C Trace Context: what an agent says of the trace that its proposal is a part of.

/// The longest that is taken; version 00 has 55 bytes.
const LONGEST: usize = 128;

/// Whether a text has the syntax of `traceparent` (<https://www.w3.org/TR/trace-context/>, section 3.2). Later versions
/// may have more fields behind another hyphen.
pub fn is_traceparent(text: &str) -> bool {
    let hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let mut fields = text.split('-');
    let mut field = |digits: usize| {
        let field = fields.next()?;
        (field.len() == digits && field.chars().all(hex)).then_some(field)
    };
    let known = (field(2), field(32), field(16), field(2));
    let (Some(version), Some(trace), Some(parent), Some(_)) = known else {
        return false;
    };
    let zero = |id: &str| id.chars().all(|c| c == '0');
    let more: Vec<&str> = fields.collect();
    text.len() <= LONGEST
        && version != "ff"
        && !zero(trace)
        && !zero(parent)
        && (version != "00" || more.is_empty())
        && more
            .iter()
            .all(|field| !field.is_empty() && field.chars().all(hex))
}

/// The trace of a `traceparent`.
pub fn trace_of(traceparent: &str) -> Option<&str> {
    traceparent.split('-').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_syntax_of_the_recommendation_is_taken() {
        let right = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert!(is_traceparent(right));
        assert_eq!(trace_of(right), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
        assert!(is_traceparent(&format!("cc{}", &right[2..])));
        assert!(is_traceparent(&format!("cc{}-0a", &right[2..])));
        for wrong in [
            String::new(),
            right.to_uppercase(),
            format!("{right}-0a"),
            format!("{right}\n"),
            format!(" {right}"),
            right[..54].to_owned(),
            format!("ff{}", &right[2..]),
            format!("cc{}-\u{1b}[2J", &right[2..]),
            format!("cc{}-{}", &right[2..], "a".repeat(200)),
            right.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            right.replace("00f067aa0ba902b7", &"0".repeat(16)),
            right.replace('-', "_"),
        ] {
            assert!(!is_traceparent(&wrong), "{wrong:?}");
        }
    }
}
