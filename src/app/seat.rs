//! A reviewer's seat at the edge: the conversation with a host over its local socket.
//!
//! Everything that comes is believed only if the key that the file of hosts names for that host signed it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::broker::Event;
use crate::broker::offer::{Offer, Statement};
use crate::broker::seat::Seat;
use crate::config::Config;
use crate::desk::Hosts;
use crate::desk::local::{Client, ClientError};
use crate::desk::wire::{FromHost, Signed, ToHost};
use crate::error::Failure;
use crate::model::{Person, ProposalId, Vote, visible};
use crate::paths::{Trust, read_trusted};

use super::Input;
use super::voters::signer;
use super::voting::Signer;

/// How long to wait before another attempt to reach a host.
const AGAIN: Duration = Duration::from_secs(2);

/// What a seat needs, checked before the screen is taken over.
pub struct Sitting {
    /// Whom the host takes us for.
    pub person: Person,
    pub host: String,
    pub socket: PathBuf,
    pub hosts: Arc<Hosts>,
    pub signer: Option<Arc<Signer>>,
}

/// A vote on its way.
pub struct Outgoing {
    pub id: ProposalId,
    pub version: u32,
    pub vote: Vote,
}

impl Sitting {
    /// What the core has to know of it.
    pub fn seat(&self) -> Seat {
        Seat {
            person: self.person.clone(),
        }
    }

    /// Reads the file of hosts and asks the host at `socket` who we are.
    ///
    /// # Errors
    /// What prevents it, in a sentence for the person.
    pub fn prepare(config: &Config, socket: &Path) -> Result<Self, Failure> {
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
        let client = runtime
            .block_on(Client::connect(socket))
            .map_err(|e| Failure::general(e.to_string()))?;
        if hosts.key(&client.host).is_none() {
            return Err(Failure::usage(format!(
                "{} calls itself `{}`, which {} does not name: add a line with that name and its `host_key.pub`",
                socket.display(),
                visible(&client.host),
                desk.hosts.display()
            )));
        }
        Ok(Self {
            person: client.you.clone(),
            host: client.host.clone(),
            socket: socket.to_owned(),
            hosts: Arc::new(hosts),
            signer,
        })
    }

    /// Follows the host until the program ends, through lost connections.
    pub async fn follow(
        self,
        inbox: UnboundedSender<Input>,
        mut votes: UnboundedReceiver<Outgoing>,
    ) {
        loop {
            let why = match Client::connect(&self.socket).await {
                Ok(client) if client.host != self.host || client.you != self.person => {
                    "another host, or for another person, answers there".to_owned()
                }
                Ok(client) => {
                    let _ = inbox.send(Input::Host(None));
                    match self.converse(client, &inbox, &mut votes).await {
                        Some(why) => why.to_string(),
                        None => return,
                    }
                }
                Err(why) => why.to_string(),
            };
            let _ = inbox.send(Input::Host(Some(why.clone())));
            // A vote that cannot be sent now is not sent later, unseen.
            let until = tokio::time::Instant::now() + AGAIN;
            loop {
                tokio::select! {
                    () = tokio::time::sleep_until(until) => break,
                    vote = votes.recv() => match vote {
                        Some(vote) => {
                            let (id, why) = (vote.id, why.clone());
                            let _ = inbox.send(Input::Core(Event::NotSent { id, why }));
                        }
                        None => return,
                    },
                }
            }
        }
    }

    /// `None`: the program ends.
    async fn converse(
        &self,
        mut client: Client,
        inbox: &UnboundedSender<Input>,
        votes: &mut UnboundedReceiver<Outgoing>,
    ) -> Option<ClientError> {
        loop {
            tokio::select! {
                line = client.next() => match line {
                    Ok(line) => {
                        let _ = inbox.send(self.heard(&line));
                    }
                    Err(why) => return Some(why),
                },
                vote = votes.recv() => {
                    let Outgoing { id, version, vote } = vote?;
                    let sent = client.send(&ToHost::Vote { proposal: id, version, vote }).await;
                    if let Err(why) = sent {
                        let not_sent = Event::NotSent { id, why: why.to_string() };
                        let _ = inbox.send(Input::Core(not_sent));
                        return Some(why);
                    }
                }
            }
        }
    }

    /// What a line of the host means.
    fn heard(&self, line: &FromHost) -> Input {
        let event = match line {
            FromHost::Offer(signed) => self.offer(signed),
            FromHost::Statement(signed) => self.statement(signed),
            FromHost::Claim { proposal, by } => {
                return Input::Claim(*proposal, by.clone());
            }
            FromHost::Hello { .. } | FromHost::Refused { .. } => {
                Err("a line that comes at another time only".to_owned())
            }
        };
        match event {
            Ok(event) => Input::Core(event),
            Err(why) => Input::Host(Some(format!("a line that is not believed: {why}"))),
        }
    }

    fn offer(&self, signed: &Signed) -> Result<Event, String> {
        let bytes = self.checked(signed)?;
        let offer = Offer::read(bytes).map_err(|e| e.to_string())?;
        self.is_its_own(&offer.host, &offer.host_key)?;
        Ok(Event::Offered {
            offer: Box::new(offer),
            bytes: bytes.into(),
        })
    }

    fn statement(&self, signed: &Signed) -> Result<Event, String> {
        let statement = Statement::read(self.checked(signed)?)?;
        self.is_its_own(&statement.host, &statement.host_key)?;
        Ok(Event::Stated(Box::new(statement)))
    }

    fn checked<'a>(&self, signed: &'a Signed) -> Result<&'a [u8], String> {
        let bytes = signed.body.as_bytes();
        self.hosts.check(&self.host, bytes, &signed.signature)?;
        Ok(bytes)
    }

    fn is_its_own(&self, host: &str, key: &str) -> Result<(), String> {
        let own = self
            .hosts
            .key(&self.host)
            .map(crate::ballot::Key::fingerprint);
        match host == self.host && own == Some(key) {
            true => Ok(()),
            false => Err("it names another host than signed it".to_owned()),
        }
    }
}
