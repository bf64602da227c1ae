//! The settings of agents: where a hook stands in the text of a JSON file, and the text with it and without it.
//!
//! Only what belongs to the hook changes; every other byte stays. A file that is no JSON, or has something else where hooks
//! stand, is refused.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::Agent;
pub use super::json::SettingsError;
use super::json::{self, member, span};

/// The hook's name for agents that give hooks names.
pub(super) const NAME: &str = "countersign";

/// The text with the hook. The same text if it is there already.
pub fn with(agent: Agent, text: &str, entry: &Value) -> Result<String, SettingsError> {
    let event = agent.event();
    if text.trim().is_empty() {
        let whole = serde_json::json!({"hooks": {event: [entry]}});
        return Ok(format!("{whole:#}\n"));
    }
    let found = Place::find(agent, text)?;
    if found
        .ours
        .iter()
        .any(|at| serde_json::from_str::<Value>(&text[at.clone()]).is_ok_and(|v| v == *entry))
    {
        return Ok(text.to_owned());
    }
    // An older one makes room.
    let text = &without(agent, text)?;
    let found = match text.trim().is_empty() {
        true => return with(agent, "", entry),
        false => Place::find(agent, text)?,
    };
    let quoted = |name: &str, value: &str| format!("\"{name}\": {value}");
    let (place, depth, added) = match (found.hooks, found.event) {
        (_, Some(event)) => (event, 3, format!("{entry:#}")),
        (Some(hooks), None) => (
            hooks,
            2,
            quoted(event, &format!("{:#}", serde_json::json!([entry]))),
        ),
        (None, None) => (
            found.root,
            1,
            quoted(
                "hooks",
                &format!("{:#}", serde_json::json!({event: [entry]})),
            ),
        ),
    };
    Ok(json::add(text, &place, depth, &added))
}

/// The text without the hook, and without what held nothing else; empty if nothing else was there at all.
pub fn without(agent: Agent, text: &str) -> Result<String, SettingsError> {
    let mut text = text.to_owned();
    if text.trim().is_empty() {
        return Ok(text);
    }
    loop {
        let found = Place::find(agent, &text)?;
        let Some(ours) = found.ours.first().cloned() else {
            return Ok(text);
        };
        let mut part = ours;
        let mut holders = vec![
            (found.event, None),
            (found.hooks, found.event_member),
            (Some(found.root.clone()), found.hooks_member),
        ];
        holders.retain(|(holder, _)| holder.is_some());
        for (holder, member) in holders {
            let Some(holder) = holder else { continue };
            part = member.unwrap_or(part);
            if !is_alone(&text, &holder, &part) {
                text = cut(&text, &holder, &part);
                part = 0..0;
                break;
            }
        }
        if !part.is_empty() {
            return Ok(emptied(&text, &found.root, &part));
        }
    }
}

/// What is left of a file in which nothing else is: nothing of one that was made for the hook.
fn emptied(text: &str, root: &Range<usize>, part: &Range<usize>) -> String {
    if text.starts_with("{\n  \"hooks\"") && text.ends_with("\n}\n") {
        return String::new();
    }
    let before = &text[..=root.start];
    let after = &text[part.end..];
    format!("{before}{}", after.strip_prefix('\n').unwrap_or(after))
}

/// Whether nothing else is between the holder's brackets.
fn is_alone(text: &str, holder: &Range<usize>, part: &Range<usize>) -> bool {
    let before = &text[holder.start + 1..part.start];
    let after = &text[part.end..holder.end - 1];
    before.trim().is_empty() && after.trim().is_empty()
}

/// Takes a part out of a list with others, with the comma that belongs to it.
fn cut(text: &str, holder: &Range<usize>, part: &Range<usize>) -> String {
    let before = text[holder.start + 1..part.start].trim_end();
    let after = &text[part.end..holder.end - 1];
    match before.strip_suffix(',') {
        Some(before) => {
            let end = holder.start + 1 + before.len();
            format!("{}{}", &text[..end], &text[part.end..])
        }
        None => {
            let gap = after.len() - after.trim_start().len();
            let comma = part.end + gap + 1;
            let rest = text[comma..].trim_start();
            format!("{}{rest}", &text[..part.start])
        }
    }
}

/// Where things stand in the text, with their brackets; of members, with their names.
struct Place {
    root: Range<usize>,
    hooks: Option<Range<usize>>,
    hooks_member: Option<Range<usize>>,
    event: Option<Range<usize>>,
    event_member: Option<Range<usize>>,
    ours: Vec<Range<usize>>,
}

impl Place {
    fn find(agent: Agent, text: &str) -> Result<Self, SettingsError> {
        let whole: &RawValue = serde_json::from_str(text).map_err(SettingsError::NotJson)?;
        let root = span(text, whole);
        let mut place = Self {
            root,
            hooks: None,
            hooks_member: None,
            event: None,
            event_member: None,
            ours: Vec::new(),
        };
        let Some(hooks) = member(whole, "the file", "hooks")? else {
            return Ok(place);
        };
        let at = span(text, hooks);
        place.hooks_member = Some(named(text, &at));
        place.hooks = Some(at);
        let event = agent.event();
        let Some(list) = member(hooks, "hooks", event)? else {
            return Ok(place);
        };
        let at = span(text, list);
        place.event_member = Some(named(text, &at));
        place.event = Some(at);
        let entries: Vec<&RawValue> =
            serde_json::from_str(list.get()).map_err(|_| SettingsError::Shape(event, "a list"))?;
        for entry in entries {
            let value: Value = serde_json::from_str(entry.get()).map_err(SettingsError::NotJson)?;
            let handlers = value["hooks"].as_array().map_or(&[][..], Vec::as_slice);
            if !handlers.iter().any(|h| is_ours(agent, h)) {
                continue;
            }
            if handlers.len() > 1 {
                return Err(SettingsError::Beside(event));
            }
            place.ours.push(span(text, entry));
        }
        Ok(place)
    }
}

/// The same with the name before it.
fn named(text: &str, value: &Range<usize>) -> Range<usize> {
    let before = text[..value.start]
        .trim_end()
        .trim_end_matches(':')
        .trim_end();
    let name = before.trim_end_matches('"');
    name.rfind('"').unwrap_or(value.start)..value.end
}

/// Whether a handler runs this program for this agent.
fn is_ours(agent: Agent, handler: &Value) -> bool {
    let words = handler["command"]
        .as_str()
        .and_then(shlex::split)
        .unwrap_or_default();
    let [program, hook, name] = words.as_slice() else {
        return false;
    };
    is_known(program) && hook == "hook" && name == agent.name()
}

/// Whether a program is taken for this one by its name.
pub fn is_known(program: &str) -> bool {
    super::tables::base(program) == "countersign"
}

/// The switch of the same file by which an agent runs no hook, or not this one.
pub fn switched_off(agent: Agent, text: &str) -> Option<&'static str> {
    let all: Value = serde_json::from_str(text).ok()?;
    let config = &all["hooksConfig"];
    let disabled = || config["disabled"].as_array()?.iter().find(|n| **n == NAME);
    match agent {
        Agent::ClaudeCode if all["disableAllHooks"] == true => Some("\"disableAllHooks\": true"),
        Agent::Gemini if config["enabled"] == false => Some("\"enabled\": false in `hooksConfig`"),
        Agent::Gemini if disabled().is_some() => Some("\"countersign\" in `hooksConfig.disabled`"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn entry(agent: Agent) -> Value {
        json!({"hooks": [{"type": "command", "command": format!("'/a b/countersign' hook {}", agent.name()), "timeout": 10}]})
    }

    const AGENTS: [Agent; 3] = [Agent::ClaudeCode, Agent::Codex, Agent::Gemini];

    #[test]
    fn a_hook_comes_and_goes_and_every_other_byte_stays() {
        for agent in AGENTS {
            let event = agent.event();
            for text in [
                String::new(),
                "{}".to_owned(),
                "{ }".to_owned(),
                "{\"b\": 1, \"a\":  [1.0, \"é\\u0041\"]}".to_owned(),
                "{\n    \"z\": {},\n\t\"hooks\": {\"Stop\": []}\n}\n\n".to_owned(),
                format!(
                    "{{\"hooks\": {{\"Stop\": [], \"{event}\": [{{\"hooks\": [{{\"command\": \"x\"}}]}}]}}, \"a\": 1}}"
                ),
                format!(
                    "{{\"hooks\":{{\"{event}\":[\n  {{\"matcher\": \"]}}\", \"hooks\": []}}\n]}}}}\r\n"
                ),
            ] {
                let entry = entry(agent);
                let there = with(agent, &text, &entry).unwrap();
                assert_ne!(there, text);
                let value: Value = serde_json::from_str(&there).unwrap();
                let list = value["hooks"][event].as_array().unwrap();
                assert_eq!(list.last(), Some(&entry), "{there}");
                assert_eq!(with(agent, &there, &entry).unwrap(), there);
                assert_eq!(without(agent, &there).unwrap(), text, "{there}");
                // Another form of it takes its place.
                let mut newer = entry.clone();
                newer["hooks"][0]["timeout"] = json!(20);
                let changed = with(agent, &there, &newer).unwrap();
                assert_eq!(changed.matches("countersign").count(), 1, "{changed}");
                assert_eq!(without(agent, &changed).unwrap(), text);
            }
        }
    }

    #[test]
    fn a_hook_goes_from_before_others_too() {
        let agent = Agent::Codex;
        let ours = entry(agent);
        let text =
            format!("{{\"hooks\": {{\"PreToolUse\": [{ours}, {{\"hooks\": []}}], \"Stop\": []}}}}");
        let left = "{\"hooks\": {\"PreToolUse\": [{\"hooks\": []}], \"Stop\": []}}";
        assert_eq!(without(agent, &text).unwrap(), left);
        let text = format!("{{\"hooks\": {{\"PreToolUse\": [{ours}], \"Stop\": []}}}}");
        assert_eq!(
            without(agent, &text).unwrap(),
            "{\"hooks\": {\"Stop\": []}}"
        );
    }

    #[test]
    fn what_cannot_be_changed_safely_is_refused_with_its_place() {
        let agent = Agent::ClaudeCode;
        let both = json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "countersign hook claude-code"}, {"command": "x"}]}]}});
        for (text, says) in [
            ("{\n  // a remark\n}".to_owned(), "line 2"),
            ("{\"a\": 1,}".to_owned(), "line 1"),
            ("[]".to_owned(), "`the file` is not an object"),
            ("{\"hooks\": []}".to_owned(), "`hooks` is not an object"),
            (
                "{\"hooks\": {\"PreToolUse\": {}}}".to_owned(),
                "`PreToolUse` is not a list",
            ),
            (
                "{\"hooks\": {}, \"hooks\": {}}".to_owned(),
                "`hooks` stands there twice",
            ),
            (both.to_string(), "beside another"),
        ] {
            for error in [
                with(agent, &text, &entry(agent)).unwrap_err(),
                without(agent, &text).unwrap_err(),
            ] {
                assert!(error.to_string().contains(says), "{text}: {error}");
            }
        }
    }
}
