//! The files that `init` makes, and the entries of agents.

use std::fmt::Write as _;
use std::path::Path;

use super::data::Tables;

/// The answer to the second question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Level {
    Usual,
    Strict,
}

impl Level {
    pub(super) const ALL: [Self; 2] = [Self::Usual, Self::Strict];

    pub(super) fn shown(self) -> (&'static str, &'static str) {
        match self {
            Self::Usual => (
                "usual",
                "the built-in policies, and agents get what a run prints",
            ),
            Self::Strict => (
                "strict",
                "one policy with small limits, and rare values of your data are hidden from agents",
            ),
        }
    }
}

/// The answer to the third one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Agent {
    ClaudeCode,
    Codex,
    Gemini,
    Cursor,
    Opencode,
    ClaudeDesktop,
    None,
}

impl Agent {
    pub(super) const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Cursor,
        Self::Opencode,
        Self::ClaudeDesktop,
        Self::None,
    ];

    pub(super) fn shown(self) -> (&'static str, &'static str) {
        match self {
            Self::ClaudeCode => ("claude-code", "Claude Code"),
            Self::Codex => ("codex", "Codex"),
            Self::Gemini => ("gemini", "Gemini CLI"),
            Self::Cursor => ("cursor", "Cursor"),
            Self::Opencode => ("opencode", "opencode"),
            Self::ClaudeDesktop => ("claude-desktop", "Claude Desktop"),
            Self::None => ("none", "another one, or none yet"),
        }
    }
}

/// The policy of [`Level::Strict`]; it only tightens.
const STRICT: &str = r#"# Made by `countersign init`: the built-in `analysis` with smaller limits.
name = "strict"
extends = "analysis"
[limits]
wall_s = 60
cpu_s = 60
memory_mb = 512
output_bytes = 50000
artifacts = 5
"#;

/// The policy file of a level, with its name.
pub(super) fn policy(level: Level) -> Option<(&'static str, &'static str)> {
    match level {
        Level::Usual => None,
        Level::Strict => Some(("strict.toml", STRICT)),
    }
}

pub(super) fn config(level: Level, tables: &Tables) -> String {
    let mut text = String::from("# Made by `countersign init`. The guide has every key.\n");
    let sensitivity = match level {
        Level::Usual => "public",
        Level::Strict => {
            text.push_str("profile = \"strict\"\nprofiles = [\"strict\"]\n");
            "private"
        }
    };
    for (name, path) in tables {
        let path = quoted(path);
        // Writing to a text cannot fail.
        let _ = write!(
            text,
            "[datasets.{name}]\npath = {path}\nsensitivity = \"{sensitivity}\"\n"
        );
    }
    text
}

/// As a basic string of TOML, which escapes as JSON does, and DEL too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007F")
}

/// The command that serves an agent.
pub(super) fn command(program: &Path, socket: Option<&Path>) -> Vec<String> {
    let mut words = vec![program.display().to_string(), "mcp".to_owned()];
    if let Some(socket) = socket {
        let socket = std::path::absolute(socket).unwrap_or_else(|_| socket.to_owned());
        words.extend(["--socket".to_owned(), socket.display().to_string()]);
    }
    words
}

/// What a person does by hand to let this agent ask.
pub(super) fn by_hand(agent: Agent, command: &[String]) -> String {
    let words = command.iter().map(String::as_str);
    let shell = shlex::try_join(words).unwrap_or_else(|_| command.join(" "));
    match agent {
        Agent::ClaudeCode => format!("for Claude Code: claude mcp add countersign -- {shell}\n"),
        Agent::Codex => format!(
            "for Codex: codex mcp add countersign -- {shell}\n  and `tool_timeout_sec = 120` below [mcp_servers.countersign] in ~/.codex/config.toml\n"
        ),
        Agent::None => format!("for any agent that speaks MCP: {shell}\n"),
        Agent::Gemini | Agent::Cursor | Agent::Opencode | Agent::ClaudeDesktop => {
            let entry = super::entry::value(agent, command, false);
            let (name, below) = (agent.shown().1, super::entry::below(agent, false));
            let below = below.join(".");
            format!(
                "for {name}, below `{below}`: {}\n",
                serde_json::json!({"countersign": entry})
            )
        }
    }
}

/// What comes after the entry, if there is anything.
pub(super) fn further(agent: Agent) -> String {
    let hook =
        |name: &str| format!("to send its own Python there too: countersign hook install {name}\n");
    match agent {
        Agent::ClaudeCode => [
            "Claude Code asks once whether it may use the servers of .mcp.json\n",
            &hook("claude-code"),
        ]
        .concat(),
        Agent::Codex => hook("codex"),
        Agent::Gemini => hook("gemini"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_path_is_read_back_as_it_was() {
        for path in ["/a b/c.csv", "/\"\\\n\t\u{1}\u{7f}ü'.csv"] {
            let tables = Tables::from([("x".to_owned(), path.to_owned())]);
            for level in Level::ALL {
                let read: toml::Table = config(level, &tables).parse().unwrap();
                assert_eq!(read["datasets"]["x"]["path"].as_str(), Some(path));
            }
        }
    }
}
