//! The agent's own file: where it is, and the entry that it gets. One that is there stays.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::error::Failure;
use crate::hook::entry::{Entered, in_json, in_toml};

use super::super::edit;
use super::texts::Agent;

/// What is to be done with the agent's file.
pub(super) enum Entry {
    /// The agent has none that is known.
    Unknown,
    /// It has an entry, which stays.
    There { path: PathBuf, text: String },
    New {
        path: PathBuf,
        before: Option<String>,
        after: String,
    },
    /// It cannot be added without a change of something else.
    ByHand { path: PathBuf, why: String },
}

impl Entry {
    pub(super) fn of(agent: Agent, command: &[String]) -> Result<Self, Failure> {
        let Some(path) = place(agent)? else {
            return Ok(Self::Unknown);
        };
        let (path, before) = match edit::behind(path.clone()).and_then(|path| {
            let before = edit::read(&path)?;
            Ok((path, before))
        }) {
            Ok(found) => found,
            Err(e) => {
                return Ok(Self::ByHand {
                    path,
                    why: e.to_string(),
                });
            }
        };
        let text = before.as_deref().unwrap_or_default();
        let entered = match agent {
            Agent::Codex => in_toml(text, "mcp_servers", &table(command)),
            _ => {
                let first = agent == Agent::Opencode && is_of_the_first(text);
                in_json(text, below(agent, first), &value(agent, command, first))
            }
        };
        Ok(match entered {
            Ok(Entered::There(text)) => Self::There { path, text },
            Ok(Entered::Added(after)) => Self::New {
                path,
                before,
                after,
            },
            Err(e) => Self::ByHand {
                path,
                why: e.to_string(),
            },
        })
    }
}

/// The file: of the project in the current folder, or where an agent has no such file, of this user.
fn place(agent: Agent) -> Result<Option<PathBuf>, Failure> {
    let project = |name: &str| {
        let path = std::path::absolute(name);
        path.map_err(|e| Failure::general(format!("the current folder: {e}")))
    };
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let home = |name: &str| set("HOME").map(|home| home.join(name));
    Ok(match agent {
        Agent::ClaudeCode => Some(project(".mcp.json")?),
        Agent::Gemini => Some(project(".gemini/settings.json")?),
        Agent::Cursor => Some(project(".cursor/mcp.json")?),
        Agent::Opencode => Some(project("opencode.json")?),
        Agent::Codex => set("CODEX_HOME")
            .or_else(|| home(".codex"))
            .map(|folder| folder.join("config.toml")),
        Agent::ClaudeDesktop => set("XDG_CONFIG_HOME")
            .or_else(|| home(".config"))
            .map(|folder| folder.join("Claude/claude_desktop_config.json")),
        Agent::None => None,
    })
}

/// The keys below which the entry stands. `first`: in a file of opencode 1.
pub(super) const fn below(agent: Agent, first: bool) -> &'static [&'static str] {
    match agent {
        Agent::Opencode if first => &["mcp"],
        Agent::Opencode => &["mcp", "servers"],
        _ => &["mcpServers"],
    }
}

/// The entry in JSON. A person needs longer than an agent waits by itself.
pub(super) fn value(agent: Agent, command: &[String], first: bool) -> Value {
    let (program, args) = command.split_at(1.min(command.len()));
    match agent {
        Agent::Opencode => {
            let timeout = if first {
                json!(120_000)
            } else {
                json!({"request": 120_000})
            };
            json!({"type": "local", "command": command, "timeout": timeout})
        }
        _ => json!({"command": program.concat(), "args": args}),
    }
}

/// The entry in Codex' TOML.
fn table(command: &[String]) -> toml::Table {
    let (program, args) = command.split_at(1.min(command.len()));
    let mut table = toml::Table::new();
    table.insert("command".to_owned(), program.concat().into());
    table.insert("args".to_owned(), args.to_vec().into());
    table.insert("tool_timeout_sec".to_owned(), 120.into());
    table
}

/// Whether servers stand right below `mcp`, as opencode 1 has them.
fn is_of_the_first(text: &str) -> bool {
    let all: Value = serde_json::from_str(text).unwrap_or_default();
    let servers = all["mcp"].as_object();
    servers.is_some_and(|servers| servers.values().any(|one| one["type"].is_string()))
}
