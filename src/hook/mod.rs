//! Hooks of coding agents: reads the call of a tool that an agent is about to make, and says whether it would run Python.
//!
//! Pure: text in, an answer out. Nothing here says "allow": a call that runs no Python is left to the agent's own rules. What is
//! not understood is [`Answer::Unclear`], and whoever asks blocks it. The work is linear in the text and bounded
//! ([`shell::Found`] counts the steps).

mod call;
pub mod entry;
mod git;
mod json;
mod language;
mod programs;
mod rows;
mod sed;
pub mod settings;
mod shell;
mod streams;
mod tables;
#[cfg(test)]
mod tests;
mod walk;
mod words;

use serde_json::{Value, json};

/// A longer call is unclear.
pub const BYTES_MAX: usize = 4 << 20;

/// What every denied call is told.
pub const REASON: &str = "use the tool run_python of countersign";

/// What is added where run_python would refuse the same.
const NOT_SERVED: &str = ". It runs code, but installs no packages and starts no test runners, servers or tools: for those, ask the person";

/// The agents whose hooks are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    ClaudeCode,
    Codex,
    Gemini,
}

/// What is said of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It runs no Python that can be seen: say nothing.
    Silent,
    /// It would run Python, by what is named.
    Python(String),
    /// Nobody can tell.
    Unclear(String),
}

impl Agent {
    /// As in `countersign hook NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The entry in this agent's settings. `blocks`: a hook that fails blocks the call, which not every version understands.
    pub fn entry(self, program: &str, blocks: bool) -> Value {
        let program =
            shlex::try_quote(program).map_or_else(|_| program.to_owned(), |p| p.into_owned());
        let command = format!("{program} hook {}", self.name());
        match self {
            Self::ClaudeCode => {
                let mut handler = json!({"type": "command", "command": command, "timeout": 10});
                if blocks {
                    handler["onFailure"] = json!("block");
                }
                json!({"matcher": "*", "hooks": [handler]})
            }
            Self::Codex => {
                json!({"hooks": [{"type": "command", "command": command, "timeout": 10}]})
            }
            Self::Gemini => json!({"matcher": ".*", "hooks": [
                {"type": "command", "name": settings::NAME, "command": command, "timeout": 10000},
            ]}),
        }
    }

    /// The event before a call of a tool.
    fn event(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Codex => "PreToolUse",
            Self::Gemini => "BeforeTool",
        }
    }

    /// Judges what this agent's hook was given.
    pub fn judge(self, given: &[u8]) -> Answer {
        if given.len() > BYTES_MAX {
            return unclear(format!("the call is longer than {BYTES_MAX} bytes"));
        }
        let call = match std::str::from_utf8(given).map(crate::model::json::read) {
            Ok(Ok(call)) => call,
            Ok(Err(e)) => return unclear(format!("the call is not JSON: {e}")),
            Err(e) => return unclear(format!("the call is not JSON: {e}")),
        };
        let Some(event) = call["hook_event_name"].as_str() else {
            return unclear("the call has no `hook_event_name`");
        };
        if event != self.event() {
            let wanted = self.event();
            return unclear(format!("the hook belongs to {wanted}, not to {event}"));
        }
        let Some(name) = call["tool_name"].as_str() else {
            return unclear("the call has no `tool_name`");
        };
        call::judge(name, &call["tool_input"])
    }

    /// The refusal in this agent's format.
    pub fn denial(self, what: &str) -> Value {
        let mut reason = format!("{REASON}: {what} would run Python, and there a person decides");
        if !tables::is_served(what) {
            reason.push_str(NOT_SERVED);
        }
        match self {
            Self::ClaudeCode | Self::Codex => json!({"hookSpecificOutput": {
                "hookEventName": self.event(),
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }}),
            Self::Gemini => json!({"decision": "deny", "reason": reason}),
        }
    }
}

fn unclear(why: impl Into<String>) -> Answer {
    Answer::Unclear(why.into())
}
