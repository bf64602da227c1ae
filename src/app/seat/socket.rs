//! One host of this machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::broker::Event;
use crate::desk::Hosts;
use crate::desk::local::{Client, ClientError};
use crate::desk::wire::{FromHost, ToHost};
use crate::model::Person;

use super::super::Input;
use super::{Outgoing, heard};

/// How long to wait before another attempt to reach a host.
const AGAIN: Duration = Duration::from_secs(2);

/// The conversation with the host that the start found.
pub struct Talk {
    pub person: Person,
    pub host: String,
    pub path: PathBuf,
    pub hosts: Arc<Hosts>,
}

impl Talk {
    pub async fn follow(
        self,
        inbox: UnboundedSender<Input>,
        mut votes: UnboundedReceiver<Outgoing>,
    ) {
        loop {
            let why = match Client::connect(&self.path).await {
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
                        Some(Outgoing::Vote { id, .. }) => {
                            let why = why.clone();
                            let _ = inbox.send(Input::Core(Event::NotSent { id, why }));
                        }
                        Some(Outgoing::Claim(_)) => {}
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
                    let (id, line) = match vote? {
                        Outgoing::Vote { id, version, vote, .. } => {
                            (id, ToHost::Vote { proposal: id, version, vote })
                        }
                        Outgoing::Claim(proposal) => {
                            if let Err(why) = client.send(&ToHost::Claim { proposal }).await {
                                return Some(why);
                            }
                            continue;
                        }
                    };
                    if let Err(why) = client.send(&line).await {
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
        let (hosts, host) = (&self.hosts, &self.host);
        let event = match line {
            FromHost::Offer(signed) => {
                heard::offer(hosts, host, signed.body.as_bytes(), &signed.signature)
            }
            FromHost::Statement(signed) => {
                heard::statement(hosts, host, signed.body.as_bytes(), &signed.signature)
            }
            FromHost::Claim { proposal, by } => {
                return Input::Claim(*proposal, by.clone());
            }
            FromHost::Hello { .. } | FromHost::Refused { .. } => {
                Err("a line that comes at another time only".to_owned())
            }
        };
        match event {
            Ok(event) => Input::Core(event),
            Err(why) => Input::Odd(format!("a line that is not believed: {why}")),
        }
    }
}
