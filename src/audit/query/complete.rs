//! What can stand where a question is being typed: keys, and values of a key.

use super::keys::{KEYS, Key};
use super::test::values;

/// What can stand in one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// The place of the text that an offer replaces, in characters from 0.
    pub from: usize,
    pub to: usize,
    pub all: Vec<Offer>,
}

/// One text, and what it means; nothing for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub text: String,
    pub what: &'static str,
}

/// The offers for the text that ends at the character `at`. `known`: values of a key that the caller knows of.
pub fn offers(question: &str, at: usize, known: impl Fn(Key) -> Vec<String>) -> Offers {
    let chars: Vec<char> = question.chars().take(at).collect();
    let mut from = begins(&chars);
    if chars.get(from) == Some(&'-') {
        from += 1;
    }
    let term: String = chars[from..].iter().collect();
    let (from, all) = match term.split_once(':') {
        Some((name, rest)) => {
            let Ok(key) = Key::named(&name.to_lowercase()) else {
                return Offers::default();
            };
            let begun = rest.rsplit(',').next().unwrap_or(rest);
            let from = chars.len() - begun.chars().count();
            (from, of_key(key, begun, known(key)))
        }
        None => (from, of_name(&term)),
    };
    let to = chars.len();
    Offers { from, to, all }
}

/// Where the term begins that the text ends with.
fn begins(chars: &[char]) -> usize {
    let (mut from, mut quoted) = (0, false);
    for (i, c) in chars.iter().enumerate() {
        match c {
            '"' if i == 0 || chars[i - 1] != '\\' => quoted = !quoted,
            c if !quoted && (c.is_whitespace() || matches!(c, '(' | ')')) => from = i + 1,
            _ => {}
        }
    }
    from
}

/// Keys, and states and verdicts without their key.
fn of_name(begun: &str) -> Vec<Offer> {
    let begun = begun.to_lowercase();
    let keys = KEYS.iter().filter(|key| key.name.starts_with(&begun));
    let mut all: Vec<Offer> = keys
        .map(|key| Offer {
            text: format!("{}:", key.name),
            what: key.what,
        })
        .collect();
    if begun.len() > 2 {
        for key in [Key::State, Key::Verdict] {
            let fitting = values(key).into_iter().filter(|v| v.starts_with(&begun));
            all.extend(fitting.map(|value| Offer {
                text: format!("{}:{value}", key.name()),
                what: "",
            }));
        }
    }
    all
}

/// Values that begin so.
fn of_key(key: Key, begun: &str, known: Vec<String>) -> Vec<Offer> {
    let begun = begun.trim_start_matches('"').to_lowercase();
    let mut all: Vec<String> = values(key).into_iter().map(str::to_owned).collect();
    if let (true, Some((_, example))) = (all.is_empty(), key.example().split_once(':')) {
        // A form is worth more than nothing where values are times.
        let times = matches!(
            key,
            Key::Took | Key::Look | Key::Ran | Key::Since | Key::Until | Key::On
        );
        all.extend(times.then(|| example.to_owned()));
    }
    all.extend(known.into_iter().map(|value| written(&value)));
    all.sort();
    all.dedup();
    let bare = |value: &String| value.trim_start_matches('"').to_lowercase();
    all.retain(|value| bare(value).starts_with(&begun));
    let offer = |text| Offer { text, what: "" };
    all.into_iter().map(offer).collect()
}

/// A value as it must be written.
fn written(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@+".contains(c);
    match !value.is_empty() && value.chars().all(plain) {
        true => value.to_owned(),
        false => format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::Query;
    use super::*;

    fn texts(question: &str) -> Vec<String> {
        let known = |key| match key {
            Key::Agent => vec![
                "etl-bot".to_owned(),
                "a \"b\"".to_owned(),
                "etl-bot".to_owned(),
            ],
            _ => Vec::new(),
        };
        let found = offers(question, question.chars().count(), known);
        found.all.into_iter().map(|offer| offer.text).collect()
    }

    #[test]
    fn keys_and_values_are_offered_by_their_beginning() {
        assert_eq!(texts("").len(), KEYS.len());
        assert_eq!(texts("state:denied ag"), ["agent:"]);
        assert_eq!(texts("-(ver"), ["verdict:"]);
        assert_eq!(texts("den"), ["state:denied"]);
        assert_eq!(texts("flag"), ["verdict:flagged"]);
        assert_eq!(texts("state:de"), ["denied"]);
        assert_eq!(texts("state:denied,exp"), ["expired"]);
        assert_eq!(texts("edited:"), ["no", "yes"]);
        assert_eq!(texts("agent:"), ["\"a \\\"b\\\"\"", "etl-bot"]);
        assert_eq!(texts("agent:\"a"), ["\"a \\\"b\\\"\""]);
        assert_eq!(texts("took:"), ["<5s"]);
        assert!(texts("nokey:").is_empty() && texts("\"state:").is_empty());
    }

    #[test]
    fn what_is_offered_can_be_read() {
        let now = Timestamp::UNIX_EPOCH;
        for key in &KEYS {
            for value in texts(&format!("{}:", key.name)) {
                let question = format!("{}:{value}", key.name);
                assert!(Query::parse(&question, now).is_ok(), "{question}");
            }
        }
        let found = offers("x agent:etl y", 9, |_| vec!["etl-bot".to_owned()]);
        assert_eq!((found.from, found.to, found.all.len()), (8, 9, 1));
    }
}
