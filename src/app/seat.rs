//! A reviewer's seat at the edge: the conversation with one host over its local socket, or with all hosts over the engine.
//!
//! Everything that comes is believed only if the key that the file of hosts names for that host signed it.

mod engine;
mod heard;
mod socket;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::broker::seat::Seat;
use crate::config::{Config, DeskConfig};
use crate::desk::Hosts;
use crate::desk::engine::{Duty, Engine};
use crate::desk::local::Client;
use crate::error::Failure;
use crate::model::{Person, ProposalId, Vote, visible};
use crate::paths::{Trust, read_trusted};
use crate::tui::{Followed, Seated};

use super::Input;
use super::voters::signer;
use super::voting::Signer;

/// What a seat needs, checked before the screen is taken over.
pub struct Sitting {
    /// Whom the host or the engine takes us for. Hosts find out by the key.
    pub person: Person,
    door: Door,
    hosts: Arc<Hosts>,
    pub signer: Option<Arc<Signer>>,
}

/// Where offers come from.
enum Door {
    /// One host of this machine.
    Socket { host: String, path: PathBuf },
    /// All hosts that offer there.
    Engine(Engine),
}

/// Where a seat is to look for hosts.
#[derive(Clone, Debug)]
pub enum Where {
    Socket(PathBuf),
    Engine,
}

/// What is on its way to a host.
pub enum Outgoing {
    Vote {
        host: String,
        id: ProposalId,
        version: u32,
        vote: Vote,
    },
    /// The person reads this.
    Claim(ProposalId),
}

impl Sitting {
    /// What the core has to know of it.
    pub fn seat(&self) -> Seat {
        Seat {
            person: self.person.clone(),
        }
    }

    /// What the screen says of it. Whoever is there answered a moment ago.
    pub fn seated(&self) -> Seated {
        let (name, place) = match &self.door {
            Door::Socket { host, path } => (host.clone(), path.display().to_string()),
            Door::Engine(engine) => ("the desk".to_owned(), engine.shown()),
        };
        let away = None;
        Seated {
            person: self.person.to_string(),
            hosts: vec![Followed { name, place, away }],
            doubted: Vec::new(),
        }
    }

    /// Reads the file of hosts and asks there who we are.
    ///
    /// # Errors
    /// What prevents it, in a sentence for the person.
    pub fn prepare(config: &Config, place: &Where) -> Result<Self, Failure> {
        let Some(desk) = &config.desk else {
            return Err(Failure::usage(
                "config.toml has no [desk]: `hosts` says which key is which host's, and `key` what you sign with",
            ));
        };
        let usage = |e: &dyn std::fmt::Display| Failure::usage(format!("[desk]: {e}"));
        let text = read_trusted(&desk.hosts, Trust::RootOrUser).map_err(|e| usage(&e))?;
        let hosts = Hosts::read(text.as_bytes()).map_err(|e| usage(&e))?;
        let signer = signer(desk).map_err(|e| usage(&e))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Failure::general(format!("cannot start: {e}")))?;
        let (person, door) = runtime.block_on(async {
            match place {
                Where::Socket(path) => at_socket(desk, &hosts, path).await,
                Where::Engine => at_engine(desk, &hosts).await,
            }
        })?;
        Ok(Self {
            person,
            door,
            hosts: Arc::new(hosts),
            signer,
        })
    }

    /// Follows the hosts until the program ends, through lost connections.
    pub async fn follow(self, inbox: UnboundedSender<Input>, votes: UnboundedReceiver<Outgoing>) {
        match self.door {
            Door::Socket { host, path } => {
                let talk = socket::Talk {
                    person: self.person,
                    host,
                    path,
                    hosts: self.hosts,
                };
                talk.follow(inbox, votes).await;
            }
            Door::Engine(engine) => {
                let talk = engine::Talk {
                    person: self.person,
                    engine,
                    hosts: self.hosts,
                    whose: std::sync::Mutex::default(),
                    taken: std::sync::Mutex::default(),
                };
                talk.follow(inbox, votes).await;
            }
        }
    }
}

async fn at_socket(
    desk: &DeskConfig,
    hosts: &Hosts,
    path: &Path,
) -> Result<(Person, Door), Failure> {
    let client = Client::connect(path)
        .await
        .map_err(|e| Failure::general(e.to_string()))?;
    if hosts.key(&client.host).is_none() {
        return Err(Failure::usage(format!(
            "{} calls itself `{}`, which {} does not name: add a line with that name and its `host_key.pub`",
            path.display(),
            visible(&client.host),
            desk.hosts.display()
        )));
    }
    let door = Door::Socket {
        host: client.host.clone(),
        path: path.to_owned(),
    };
    Ok((client.you.clone(), door))
}

async fn at_engine(desk: &DeskConfig, hosts: &Hosts) -> Result<(Person, Door), Failure> {
    if hosts.is_empty() {
        return Err(Failure::usage(format!(
            "{} names no host: add a line `NAME KEY` for each, with its `host_key.pub`",
            desk.hosts.display()
        )));
    }
    let engine = Engine::of(desk).map_err(|e| Failure::usage(format!("[desk]: {e}")))?;
    let Some(engine) = engine else {
        return Err(Failure::usage(
            "which host: give its socket for reviewers, or set `desk.socket` or `desk.url` in config.toml",
        ));
    };
    let duty = engine.me().await;
    match duty.map_err(|e| Failure::general(format!("{}: {e}", engine.shown())))? {
        Some(Duty::Reviewer(person, _)) => Ok((person, Door::Engine(engine))),
        other => {
            let is = other.map_or("no member of the desk".to_owned(), |duty| {
                format!("one of {}", duty.whose())
            });
            Err(Failure::usage(format!(
                "{}: this login is {is}, and a seat needs one of a reviewer: `countersign desk member add LOGIN --person NAME`",
                engine.shown()
            )))
        }
    }
}
