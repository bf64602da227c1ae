//! `countersign demo`: bundled proposals on bundled data, from agents that connect to the real
//! socket like any other. Nothing here accesses the dashboard or can decide.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::model::{AgentClaim, Draft, InputRequest, VerdictKind};

/// A bundled proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct DemoProposal {
    /// What the agent calls itself; each name has its own connection.
    pub agent: String,
    /// When it arrives, counted from the start of the demo.
    pub after: Duration,
    /// The verdict that the profile `analysis` gives it.
    pub verdict: VerdictKind,
    /// The params of `propose`.
    pub draft: Draft,
}

const MANIFEST: &str = include_str!("../../assets/demo/proposals.toml");

/// File name and text of each named file in assets/demo.
macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../assets/demo/", $name)))),*]
    };
}

/// The snippets that have a file of their own.
const SNIPPETS: &[(&str, &str)] = bundled![
    "01-mass-by-species.py",
    "02-export-by-island.py",
    "03-find-the-mount.py",
    "04-bill-shape.py",
    "05-missing-before-the-meeting.py",
    "06-bootstrap.py",
    "07-growth-per-year.py",
    "08-sites-and-thresholds.py",
    "10-label-report.py",
    "11-index-from-settings.py",
    "12-quality-report.py",
    "13-list-loaders.py",
    "14-colony-simulation.py",
    "15-classify.py",
];

/// The format of `proposals.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    proposal: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    agent: String,
    verdict: VerdictKind,
    after_s: u64,
    /// The snippet's file; without it, `code` has the snippet.
    file: Option<String>,
    code: Option<String>,
    title: Option<String>,
    reason: Option<String>,
    ttl_s: Option<u64>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    inputs: BTreeMap<String, InputRequest>,
}

impl Item {
    fn code(&self) -> Option<&str> {
        match &self.file {
            Some(file) => SNIPPETS
                .iter()
                .find(|(name, _)| name == file)
                .map(|(_, text)| *text),
            None => self.code.as_deref(),
        }
    }

    fn into_proposal(self) -> Option<DemoProposal> {
        let code = self.code()?.into();
        Some(DemoProposal {
            agent: self.agent,
            after: Duration::from_secs(self.after_s),
            verdict: self.verdict,
            draft: Draft {
                code,
                profile: None,
                title: self.title,
                reason: self.reason,
                agent: None,
                inputs: self.inputs,
                ttl_s: self.ttl_s,
                stream: self.stream,
                idempotency_key: None,
                traceparent: None,
            },
        })
    }
}

/// The bundled proposals in order of arrival. A test ensures that the bundle can be read; if it
/// could not, the demo would be empty, but the dashboard would still start.
pub fn proposals() -> Vec<DemoProposal> {
    let items = toml::from_str::<Manifest>(MANIFEST).map_or_else(
        |error| {
            tracing::error!(%error, "the bundled proposals cannot be read");
            Vec::new()
        },
        |manifest| manifest.proposal,
    );
    items.into_iter().filter_map(Item::into_proposal).collect()
}

/// Name and CSV text of the bundled data sets; assets/demo/README.md gives source and licence.
pub fn dataset_files() -> &'static [(&'static str, &'static str)] {
    &[
        ("penguins", include_str!("../../assets/demo/penguins.csv")),
        (
            "penguins_raw",
            include_str!("../../assets/demo/penguins_raw.csv"),
        ),
    ]
}

/// Writes the data sets as files into an existing folder; returns their names and paths.
pub fn write_datasets(dir: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut written = BTreeMap::new();
    for (name, csv) in dataset_files() {
        let path = dir.join(format!("{name}.csv"));
        std::fs::write(&path, csv)?;
        written.insert((*name).to_owned(), path);
    }
    Ok(written)
}

/// Proposes everything over the socket, each agent on its own connection, and waits for the
/// outcomes. Ends when all have arrived or the dashboard is gone; errors are logged.
pub async fn feed(socket: PathBuf) {
    let start = Instant::now();
    let mut agents: BTreeMap<String, VecDeque<DemoProposal>> = BTreeMap::new();
    for proposal in proposals() {
        let queue = agents.entry(proposal.agent.clone()).or_default();
        queue.push_back(proposal);
    }
    let mut running = JoinSet::new();
    for (name, queue) in agents {
        let socket = socket.clone();
        running.spawn(async move {
            if let Err(error) = Agent::run(&socket, &name, queue, start).await {
                tracing::debug!(agent = name, %error, "a demo agent left");
            }
        });
    }
    while running.join_next().await.is_some() {}
}

/// How often an agent tries to connect, and how long it waits between attempts.
const ATTEMPTS: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(100);

/// One agent on its connection.
struct Agent {
    lines: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    out: OwnedWriteHalf,
    /// Requests sent so far; also the next request's id.
    sent: u64,
    /// Answers to `propose` and `wait` that are still to come.
    open: usize,
}

impl Agent {
    async fn run(
        socket: &Path,
        name: &str,
        mut queue: VecDeque<DemoProposal>,
        start: Instant,
    ) -> io::Result<()> {
        let (read, out) = connect(socket).await?.into_split();
        let lines = BufReader::new(read).lines();
        let mut agent = Self {
            lines,
            out,
            sent: 0,
            open: 0,
        };
        let claim = AgentClaim {
            name: name.to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            ..AgentClaim::default()
        };
        let hello = json!({"protocol": 1, "agent": claim});
        agent.call("hello", &hello).await?;
        while !queue.is_empty() || agent.open > 0 {
            let due = queue.front().map(|p| start + p.after);
            tokio::select! {
                line = agent.lines.next_line() => match line? {
                    Some(line) => agent.hear(&line).await?,
                    None => return Ok(()),
                },
                () = at(due) => {
                    if let Some(next) = queue.pop_front() {
                        let params = serde_json::to_value(&next.draft)?;
                        agent.call("propose", &params).await?;
                        agent.open += 1;
                    }
                }
            }
        }
        Ok(())
    }

    async fn call(&mut self, method: &str, params: &Value) -> io::Result<()> {
        let request = json!({
            "jsonrpc": "2.0", "id": self.sent, "method": method, "params": params
        });
        self.sent += 1;
        let mut line = serde_json::to_vec(&request)?;
        line.push(b'\n');
        self.out.write_all(&line).await
    }

    /// Waits for the outcome of each accepted proposal. An outcome or a refusal completes a
    /// proposal.
    async fn hear(&mut self, line: &str) -> io::Result<()> {
        let answer: Value = serde_json::from_str(line)?;
        if answer.get("method").is_some() || answer.get("id") == Some(&json!(0)) {
            return Ok(());
        }
        let result = answer.get("result");
        // Only the answer to `propose` has the time of expiry.
        let proposed = result.filter(|r| r.get("expires_at").is_some());
        match proposed.and_then(|r| r.get("id")) {
            Some(id) => self.call("wait", &json!({ "id": id })).await,
            None => {
                self.open = self.open.saturating_sub(1);
                Ok(())
            }
        }
    }
}

/// Connects, retrying because the dashboard may not listen yet.
async fn connect(socket: &Path) -> io::Result<UnixStream> {
    let mut attempt = 1;
    loop {
        match UnixStream::connect(socket).await {
            Ok(stream) => return Ok(stream),
            Err(error) if attempt >= ATTEMPTS => return Err(error),
            Err(_) => sleep(BETWEEN).await,
        }
        attempt += 1;
    }
}

/// Sleeps until the given time; without one, forever.
async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "demo_tests.rs"]
mod tests;
