//! How much of what a run printed and returned stands for something else, in a sentence.

use std::collections::BTreeMap;

use super::line::Record;
use crate::model::{Digest, LogEvent, REDACTED, grouped};

/// Characters of a kind's name.
const KIND: usize = 40;

/// What is hidden in the output of a proposal that ran, or that nothing of private data is. `None` if it did not run, its
/// output is not kept, or no private data was given and nothing is hidden.
pub fn withheld(
    records: &[Record],
    content: &dyn Fn(&Digest) -> Option<Vec<u8>>,
) -> Option<String> {
    let finished = records.iter().find_map(|record| match &record.event {
        LogEvent::Finished(f) if f.unkept.is_none() => Some(f),
        _ => None,
    })?;
    let is_private = records.iter().any(|record| match &record.event {
        LogEvent::Proposed(p) => p.inputs.iter().any(|input| input.is_private()),
        _ => false,
    });
    let mut hidden = Hidden::default();
    let mut any = false;
    for (_, digest) in finished.printed() {
        let text = content(&digest)?;
        hidden.count(&String::from_utf8_lossy(&text));
        any = true;
    }
    let nothing = || (is_private && any).then(|| NOTHING.to_owned());
    hidden.said().or_else(nothing)
}

const NOTHING: &str =
    "Nothing of private data is hidden in its output: what it printed of it is in the clear.";

/// Marks that were counted in texts. A run can have written them itself.
#[derive(Debug, Default)]
struct Hidden {
    values: usize,
    /// By their kind.
    secrets: BTreeMap<String, usize>,
}

impl Hidden {
    fn count(&mut self, text: &str) {
        self.values += text.matches(REDACTED).count();
        for rest in text.split("[REDACTED:").skip(1) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            let end = rest.find(|c: char| !plain(c)).unwrap_or(rest.len());
            if (1..=KIND).contains(&end) && rest[end..].starts_with(']') {
                *self.secrets.entry(rest[..end].to_owned()).or_default() += 1;
            }
        }
    }

    /// `None` if there is nothing.
    fn said(&self) -> Option<String> {
        let kind = |(kind, n): (&String, &usize)| match n {
            1 => kind.clone(),
            n => format!("{} × {kind}", grouped(*n as u64)),
        };
        let kinds: Vec<String> = self.secrets.iter().map(kind).collect();
        let values = self.values as u64;
        let values = (values > 0).then(|| {
            let (of, are) = if values == 1 { ("value", "is") } else { ("values", "are") };
            format!(
                "{} {of} of private data {are} hidden ([REDACTED]), from the agent too; what else it printed of that data is in the clear.",
                grouped(values)
            )
        });
        let secrets = self.secrets.values().sum::<usize>() as u64;
        let secrets = (secrets > 0).then(|| {
            let (of, were) = if secrets == 1 {
                ("secret", "was")
            } else {
                ("secrets", "were")
            };
            format!(
                "{} {of} {were} not kept ({}).",
                grouped(secrets),
                kinds.join(", ")
            )
        });
        let said: Vec<String> = values.into_iter().chain(secrets).collect();
        (!said.is_empty()).then(|| said.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Option<String> {
        let mut all = Hidden::default();
        texts.iter().for_each(|text| all.count(text));
        all.said()
    }

    #[test]
    fn what_is_hidden_is_counted_by_kind() {
        assert_eq!(
            said(&["1200\n", "no [REDACTED:", "[REDACTED: x]", "[REDACTED:]"]),
            None
        );
        let two = said(&["median [REDACTED]\n", "{\"a\":\"[REDACTED]\"}"]).unwrap();
        assert!(
            two.starts_with("2 values of private data are hidden ([REDACTED])"),
            "{two}"
        );
        assert!(!two.contains("secret"), "{two}");
        let all =
            said(&["[REDACTED] [REDACTED:password][REDACTED:env][REDACTED:password]"]).unwrap();
        assert!(
            all.starts_with("1 value of private data is hidden"),
            "{all}"
        );
        assert!(
            all.contains("3 secrets were not kept (env, 2 × password)"),
            "{all}"
        );
    }
}
