//! How much of an output stands for something else.

use std::collections::BTreeMap;

use crate::model::REDACTED;

use super::super::words::dossier as words;

/// Marks that were counted in texts. A run can have written them itself.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    values: usize,
    /// By their kind.
    secrets: BTreeMap<String, usize>,
}

impl Hidden {
    pub(super) fn count(&mut self, text: &str) {
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
    pub(super) fn said(&self) -> Option<String> {
        let kinds = self
            .secrets
            .iter()
            .map(|(kind, n)| words::of_kind(kind, *n));
        let kinds: Vec<String> = kinds.collect();
        let secrets = self.secrets.values().sum::<usize>();
        let values = (self.values > 0).then(|| words::values_hidden(self.values));
        let secrets = (secrets > 0).then(|| words::secrets_hidden(secrets, &kinds));
        let said: Vec<String> = values.into_iter().chain(secrets).collect();
        (!said.is_empty()).then(|| said.join(" "))
    }
}

/// Characters of a kind's name.
const KIND: usize = 40;

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
