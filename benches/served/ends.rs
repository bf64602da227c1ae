//! A snippet's end: it is proposed, granted by keys, and compared with the output of plain Python.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::common::agent::Agent;
use super::common::dash::{Dash, Options};

pub struct Snippet {
    /// The table row that the snippet counts in.
    pub row: String,
    pub name: String,
    pub code: String,
    /// The output of plain Python in the same environment.
    pub printed: String,
}

/// A rule that stopped or flagged a snippet, with its message.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    pub rule: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum End {
    Served {
        flagged: Vec<Alarm>,
    },
    /// Blocked before anybody was asked, by these rules.
    Blocked(Vec<Alarm>),
    /// Failed after a person granted it.
    Failed(String),
    /// Printed something other than under plain Python.
    Differs(String),
}

impl End {
    /// The refusals to look up in a file of reasons; empty if the snippet was served.
    pub fn refusals(&self) -> Vec<Alarm> {
        let one = |rule: &str, message: &String| {
            vec![Alarm {
                rule: rule.to_owned(),
                message: message.clone(),
            }]
        };
        match self {
            Self::Served { .. } => Vec::new(),
            Self::Blocked(alarms) => alarms.clone(),
            Self::Failed(message) => one("failed", message),
            Self::Differs(message) => one("differs", message),
        }
    }
}

/// Proposes and grants each snippet on several dashboards in parallel, because most of a grant's
/// time is waiting for grace periods.
pub fn ends(snippets: &[Snippet], desks: usize) -> Vec<(&Snippet, End)> {
    let (next, ends) = (Mutex::new(snippets.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..desks.min(snippets.len()) {
            scope.spawn(|| {
                // A screen large enough for a whole snippet, which must be seen before the grant.
                let mut dash = Dash::with(&Options {
                    size: (240, 100),
                    ..Options::default()
                });
                let mut agent = dash.agent();
                loop {
                    let Some(one) = next.lock().unwrap().next() else {
                        return;
                    };
                    let end = serve(&mut dash, &mut agent, one);
                    if !end.refusals().is_empty() {
                        eprintln!("{} {}: {end:?}", one.row, one.name);
                    }
                    ends.lock().unwrap().push((one, end));
                }
            });
        }
    });
    let mut ends = ends.into_inner().unwrap();
    ends.sort_by(|a, b| (&a.0.row, &a.0.name).cmp(&(&b.0.row, &b.0.name)));
    ends
}

fn serve(dash: &mut Dash, agent: &mut Agent, one: &Snippet) -> End {
    let proposal = agent.propose(json!({"code": one.code, "profile": "analysis"}));
    let verdict = proposal["verdict"].clone();
    if proposal["state"] != "pending" {
        return End::Blocked(findings_with(&verdict, "block"));
    }
    dash.grant(agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    let run = &outcome["run"];
    if outcome["state"] != "succeeded" {
        let error = &run["error"];
        let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
        let state = outcome["state"].as_str().unwrap_or_default();
        return End::Failed(format!(
            "{state} {}: {}",
            text("exception"),
            text("message")
        ));
    }
    let printed = plain(run["stdout"].as_str().unwrap_or_default());
    let expected = plain(&one.printed);
    // Our run also shows a bare last expression, which plain Python does not.
    if !printed.starts_with(&expected) {
        let line = expected.lines().zip(printed.lines()).find(|(a, b)| a != b);
        return End::Differs(format!("{}: {line:?}", one.name));
    }
    End::Served {
        flagged: match verdict["verdict"] == "flagged" {
            true => findings_with(&verdict, "flag"),
            false => Vec::new(),
        },
    }
}

/// Removes object addresses, which differ between runs.
pub fn plain(printed: &str) -> String {
    let mut parts = printed.split(" at 0x");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(" at ");
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    text
}

/// The rules with this action, and their messages.
fn findings_with(verdict: &Value, action: &str) -> Vec<Alarm> {
    let findings = verdict["findings"].as_array().cloned().unwrap_or_default();
    let done = findings.iter().filter(|f| f["action"] == action);
    let text = |f: &Value, key: &str| f[key].as_str().unwrap_or_default().to_owned();
    done.map(|f| Alarm {
        rule: text(f, "rule"),
        message: text(f, "message"),
    })
    .collect()
}
