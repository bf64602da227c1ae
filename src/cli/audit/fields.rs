//! The fields of a record in words: no notation, and nothing is left out.

use serde_json::Value;

use crate::audit::spelled;
use crate::model::{LogEvent, Reviewer, Viewed};

use super::list::claim;

/// Characters shown of one text.
const TEXT: usize = 2_000;
const NAME: usize = 40;

/// Each field with its name. Those that are in the record's heading, or have nothing, are left out.
pub(super) fn fields(event: &LogEvent) -> serde_json::Result<Vec<(String, String)>> {
    let value = serde_json::to_value(event)?;
    let fields = value.as_object().into_iter().flatten();
    let told =
        fields.filter(|(name, value)| !matches!(name.as_str(), "kind" | "id") && !value.is_null());
    Ok(told
        .map(|(name, value)| (claim(name, NAME), field(name, value)))
        .collect())
}

fn field(name: &str, value: &Value) -> String {
    let known = match name {
        "by" => serde_json::from_value(value.clone())
            .ok()
            .map(|by| person(&by)),
        "viewed" => serde_json::from_value(value.clone())
            .ok()
            .map(|viewed| look(&viewed)),
        _ => None,
    };
    known.unwrap_or_else(|| words(value))
}

/// `ana (uid 1000, login uid 1000) on desk, terminal /dev/pts/1, ssh "10.0.0.1 …"`.
fn person(by: &Reviewer) -> String {
    let login = by.login.as_deref().map_or("-".to_owned(), text);
    let loginuid = by
        .loginuid
        .map_or(String::new(), |uid| format!(", login uid {uid}"));
    let mut said = format!("{login} (uid {}{loginuid})", by.uid);
    for (before, place) in [
        (" on ", &by.host),
        (", terminal ", &by.tty),
        (", ssh ", &by.ssh),
    ] {
        if let Some(place) = place {
            said.push_str(before);
            said.push_str(&text(place));
        }
    }
    said
}

fn look(viewed: &Viewed) -> String {
    let focus = match viewed.focused_ms {
        Some(ms) => format!("in focus for {}", spelled(ms)),
        None => "the terminal does not report focus".to_owned(),
    };
    let again = match viewed.asked_again {
        true => "; the sheet asked again, since it was faster than reading",
        false => "",
    };
    let opened = match viewed.opened.is_empty() {
        true => String::new(),
        false => {
            let opened = serde_json::to_value(viewed.opened).unwrap_or_default();
            format!("; on the screen too: {}", words(&opened))
        }
    };
    format!(
        "selected for {}, {focus}; lines of code seen: {}, findings shown: {}{opened}{again}",
        spelled(viewed.selected_ms),
        viewed.lines_seen,
        viewed.findings_shown
    )
}

/// A text as it is if it is plain, else in quotes, in which it ends nothing.
fn text(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+".contains(c);
    let shown = claim(text, TEXT);
    match !shown.is_empty() && shown == text && text.chars().all(plain) {
        true => shown,
        false => format!("\"{}\"", shown.replace('"', "\\\"")),
    }
}

fn words(value: &Value) -> String {
    let some = |all: Vec<String>| match all.is_empty() {
        true => "none".to_owned(),
        false => all.join(", "),
    };
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(n) => n.to_string(),
        Value::String(said) => text(said),
        Value::Array(all) => some(all.iter().map(nested).collect()),
        Value::Object(all) => {
            let all = all.iter().filter(|(_, value)| !value.is_null());
            some(
                all.map(|(name, value)| format!("{} {}", text(name), nested(value)))
                    .collect(),
            )
        }
    }
}

fn nested(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => format!("({})", words(value)),
        plain => words(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::samples;
    use crate::model::ProposalId;

    #[test]
    fn every_kind_of_record_is_told_without_notation() {
        for event in samples::every_kind(ProposalId::new()) {
            for (name, said) in fields(&event).unwrap() {
                assert!(
                    !said.contains(['{', '}', '[', ']']),
                    "{} {name}: {said}",
                    event.kind()
                );
            }
        }
    }

    #[test]
    fn who_decided_and_what_they_saw_is_told_in_words() {
        let by = Reviewer {
            uid: 1000,
            login: Some("ana".to_owned()),
            loginuid: Some(1000),
            host: Some("desk 4, uid 0".to_owned()),
            tty: Some("/dev/pts/3".to_owned()),
            ssh: None,
        };
        assert_eq!(
            person(&by),
            "ana (uid 1000, login uid 1000) on \"desk 4, uid 0\", terminal /dev/pts/3"
        );
        let viewed = Viewed {
            selected_ms: 65_000,
            focused_ms: Some(900),
            lines_seen: 12,
            findings_shown: 2,
            asked_again: true,
            ..Viewed::default()
        };
        assert_eq!(
            look(&viewed),
            "selected for 1 min 5 s, in focus for 900 ms; lines of code seen: 12, findings shown: 2; the sheet asked again, \
             since it was faster than reading"
        );
    }

    #[test]
    fn a_text_ends_nothing() {
        let hostile = serde_json::json!({"reason": "no\", by root\n\u{1b}[2J"});
        assert_eq!(
            words(&hostile),
            "reason \"no\\\", by root ␊␛[2J\"".replace(" ␊", "␊")
        );
    }
}
