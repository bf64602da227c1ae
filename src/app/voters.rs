//! What votes need at the edge of a host: the files of who may vote, the key of what it says, and the socket of those who
//! vote from other terminals of this machine.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::audit::Store;
use crate::ballot::{Electorate, Key};
use crate::broker::Event;
use crate::broker::notice::Notice;
use crate::broker::offer::Publication;
use crate::broker::poll::{Seed, Unsigned, Voting};
use crate::config::{Config, DeskConfig, NotifySection};
use crate::desk::engine::Engine;
use crate::desk::local::{LocalListener, Voters, serve};
use crate::desk::post::Requests;
use crate::desk::post::evidence::ReadHosts;
use crate::desk::{Board, Evidence, HostKey, Post};
use crate::error::Failure;
use crate::ipc::Gate;
use crate::model::{NAMESPACE, Person, ProposalId, Reviewer, Via, Vote, visible};
use crate::policy::Policy;

use super::Input;
use super::evidence;
use super::notices::Notices;
use super::reviewer;
use super::seat::{Outgoing, Sitting};
use super::voting::files::VotingFiles;
use super::voting::{SignError, Signer, Terminal};

/// How often the files of who may vote are looked at although nothing comes.
const LOOK: Duration = Duration::from_secs(5);

/// Everything that votes need, checked before the screen is taken over.
pub struct Desk {
    pub voting: Arc<Voting>,
    files: VotingFiles,
    electorate: Arc<Electorate>,
    board: Board,
    /// `None` if the person at this terminal has no key configured: they can deny, and let others grant.
    signer: Option<Arc<Signer>>,
    socket: Option<PathBuf>,
    engine: Option<Engine>,
    state_dir: PathBuf,
    store: Store,
    hosts: ReadHosts,
    notify: NotifySection,
}

/// A vote that takes the terminal to be signed.
pub struct AskTerminal {
    pub id: ProposalId,
    pub version: u32,
    pub vote: Box<Unsigned>,
    pub signer: Arc<Signer>,
    pub permit: Terminal,
}

impl Desk {
    /// Who may vote, and the files that say so; `None` if no policy in force asks for votes.
    ///
    /// # Errors
    /// A policy that asks for votes without a `[desk]` that can count them.
    pub fn look<'a>(
        config: &'a Config,
        in_force: &[Arc<Policy>],
    ) -> Result<Option<(&'a DeskConfig, Electorate)>, Failure> {
        let Some(asking) = in_force.iter().find(|policy| !policy.grant.is_empty()) else {
            return Ok(None);
        };
        let Some(desk) = &config.desk else {
            return Err(Failure::usage(format!(
                "profile `{}` asks for signed votes ([grant] of its file), and config.toml has no [desk] that says whose \
                 count: add one, or take the profile out of `profiles`",
                asking.name
            )));
        };
        let usage = |e: &dyn std::fmt::Display| Failure::usage(format!("[desk]: {e}"));
        let electorate = VotingFiles::from(desk).read().map_err(|e| usage(&e))?;
        host_name(desk)?;
        signer(desk).map_err(|e| usage(&e))?;
        Ok(Some((desk, electorate)))
    }

    /// `None` if no policy in force asks for votes: then nothing of a desk is started.
    ///
    /// # Errors
    /// A policy that asks for votes without a `[desk]` that can count them.
    pub fn prepare(config: &Config, in_force: &[Arc<Policy>]) -> Result<Option<Self>, Failure> {
        let Some((desk, electorate)) = Self::look(config, in_force)? else {
            return Ok(None);
        };
        let usage = |e: &dyn std::fmt::Display| Failure::usage(format!("[desk]: {e}"));
        let key = HostKey::open_or_make(&config.paths.state_dir)
            .map_err(|e| Failure::general(format!("the host's key: {e}")))?;
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)
            .map_err(|e| Failure::general(format!("the system gives no random numbers: {e}")))?;
        let voting = Voting {
            host: host_name(desk)?,
            host_key: key.public().fingerprint().to_owned(),
            seed: Seed(seed),
            routes: desk.routes.clone(),
            escalate: Duration::from_secs(60 * desk.escalate_min),
            by: reviewer::here(),
        };
        Ok(Some(Self {
            voting: Arc::new(voting),
            files: VotingFiles::from(desk),
            electorate: Arc::new(electorate),
            board: Board::new(key),
            signer: signer(desk).map_err(|e| usage(&e))?,
            socket: desk.socket.clone(),
            engine: Engine::of(desk).map_err(|e| usage(&e))?,
            state_dir: config.paths.state_dir.clone(),
            store: evidence::store(config),
            hosts: evidence::hosts(desk),
            notify: config.notify.clone(),
        }))
    }

    /// Who may vote, as read at the start.
    pub fn electorate(&self) -> &Electorate {
        &self.electorate
    }

    /// Opens the socket and the way to the engine, where they are configured, and hands the core who may vote.
    ///
    /// # Errors
    /// What prevents the socket.
    pub fn open(
        self,
        by: Reviewer,
        inbox: UnboundedSender<Input>,
        gate: Gate,
    ) -> Result<Hands, Failure> {
        let _ = inbox.send(Input::Core(Event::Electorate(Ok(self.electorate))));
        let hands = Hands {
            place: Place::Here {
                files: self.files,
                board: self.board.clone(),
                notices: Notices::start(&self.notify, inbox.clone()),
            },
            signer: self.signer,
            by,
            inbox,
            looks: Arc::default(),
            asked: Arc::default(),
        };
        tokio::spawn(hands.clone().watch_who_votes());
        if let Some(path) = &self.socket {
            let listener = LocalListener::bind(path)
                .map_err(|e| Failure::general(format!("[desk] socket: {e}")))?;
            let host = self.voting.host.clone();
            tokio::spawn(serve(listener, host, self.board.clone(), hands.clone()));
        }
        if let Some(engine) = self.engine {
            let me = (self.voting.host.clone(), self.voting.host_key.clone());
            let board = self.board.clone();
            let requests = Requests::open(engine.clone(), me, board, gate, &self.state_dir)
                .map_err(|e| Failure::general(format!("[desk]: requests of gateways: {e}")))?;
            let evidence = Evidence {
                engine: engine.clone(),
                host: self.voting.host.clone(),
                host_key: self.voting.host_key.clone(),
                board: self.board.clone(),
                state_dir: self.state_dir,
                store: self.store,
                hosts: self.hosts,
            };
            let words = hands.inbox.clone();
            tokio::spawn(evidence.carry(move |word| {
                let _ = words.send(Input::Evidence(word));
            }));
            let post = Post {
                engine,
                host: self.voting.host.clone(),
                host_key: self.voting.host_key.clone(),
                board: self.board,
                voters: hands.clone(),
                requests: Some(requests),
            };
            let inbox = hands.inbox.clone();
            tokio::spawn(post.carry(move |news| {
                let _ = inbox.send(Input::Engine(news));
            }));
        }
        Ok(hands)
    }
}

fn host_name(desk: &DeskConfig) -> Result<String, Failure> {
    let own = || nix::unistd::gethostname().ok()?.into_string().ok();
    let name = desk.name.clone().or_else(own).unwrap_or_default();
    match crate::desk::hosts::is_host_name(&name) {
        true => Ok(name),
        false => Err(Failure::usage(format!(
            "this machine's name `{}` cannot be a host's; set `desk.name`",
            visible(&name)
        ))),
    }
}

/// The key of the person at this terminal.
pub fn signer(desk: &DeskConfig) -> Result<Option<Arc<Signer>>, SignError> {
    let signer = desk.key.as_ref().map(Signer::new).transpose()?;
    Ok(signer.map(Arc::new))
}

/// The public key that the person here signs with; `None` if none is configured.
///
/// # Errors
/// Why it cannot be used, in words.
pub fn signing_key(desk: &DeskConfig) -> Result<Option<Key>, String> {
    let signer = signer(desk).map_err(|e| e.to_string())?;
    Ok(signer.map(|signer| signer.public_key().clone()))
}

/// Carries out what the core asks for about votes. A clone does the same.
#[derive(Clone)]
pub struct Hands {
    place: Place,
    signer: Option<Arc<Signer>>,
    by: Reviewer,
    inbox: UnboundedSender<Input>,
    /// Whether a look at the files of who may vote is to come.
    looks: Arc<AtomicBool>,
    /// For which proposals a look is to come.
    asked: Arc<Mutex<Vec<ProposalId>>>,
}

/// Where votes are counted.
#[derive(Clone)]
enum Place {
    Here {
        files: VotingFiles,
        board: Board,
        notices: Option<Notices>,
    },
    /// At a host, which hears of them over this.
    There(UnboundedSender<Outgoing>),
}

impl Hands {
    /// Those of a reviewer's seat, which follows its host from now on.
    pub fn sit(sitting: Sitting, by: Reviewer, inbox: UnboundedSender<Input>) -> Self {
        let (votes, outgoing) = unbounded_channel();
        let signer = sitting.signer.clone();
        tokio::spawn(sitting.follow(inbox.clone(), outgoing));
        Self {
            place: Place::There(votes),
            signer,
            by,
            inbox,
            looks: Arc::default(),
            asked: Arc::default(),
        }
    }

    /// Sends a vote to its host.
    pub fn send(&self, host: String, id: ProposalId, version: u32, vote: Vote) {
        let Place::There(votes) = &self.place else {
            return;
        };
        // The receiver ends only with the program.
        let _ = votes.send(Outgoing::Vote {
            host,
            id,
            version,
            vote,
        });
    }

    /// Tells the others that the person at this terminal reads a proposal.
    pub fn claim(&self, id: ProposalId, by: &Person) {
        match &self.place {
            Place::Here { board, .. } => board.claim(id, by),
            // The receiver ends only with the program.
            Place::There(votes) => drop(votes.send(Outgoing::Claim(id))),
        }
    }

    pub fn publish(&self, publication: Publication) {
        let Place::Here { board, .. } = &self.place else {
            return;
        };
        if let Err(e) = board.publish(publication) {
            tracing::warn!("something for the reviewers was not signed: {e}");
        }
    }

    /// The log is not the one that was signed: others are to know.
    pub fn doubted(&self) {
        if let Place::Here { board, .. } = &self.place {
            board.doubt();
        }
    }

    /// Has people told, if there is a command for it.
    pub fn notify(&self, notice: Notice) {
        if let Place::Here {
            notices: Some(notices),
            ..
        } = &self.place
        {
            notices.take(notice);
        }
    }

    /// Has a vote signed without the terminal, or asks for the terminal.
    pub fn sign(&self, id: ProposalId, version: u32, vote: Box<Unsigned>) {
        let Some(signer) = self.signer.clone() else {
            let why =
                "set `desk.key` of config.toml to your key, to grant what asks for signed votes";
            return self.signed(id, version, Err(why.to_owned()));
        };
        let hands = self.clone();
        tokio::spawn(async move {
            let signed = signer.quietly(vote.text.as_bytes(), NAMESPACE).await;
            match signed {
                Ok(armour) => hands.signed(id, version, Ok(vote.signed(armour))),
                Err(why) => match why.terminal() {
                    None => hands.signed(id, version, Err(why.to_string())),
                    Some(permit) => {
                        let ask = AskTerminal {
                            id,
                            version,
                            vote,
                            signer,
                            permit,
                        };
                        let _ = hands.inbox.send(Input::Sign(Box::new(ask)));
                    }
                },
            }
        });
    }

    /// Hands the core a signature, or why there is none.
    pub fn signed(&self, id: ProposalId, version: u32, vote: Result<Vote, String>) {
        let by = self.by.clone();
        // The files may have changed since the start.
        if matches!(self.place, Place::Here { .. }) {
            let electorate = Voters::electorate(self);
            let _ = self.inbox.send(Input::Core(Event::Electorate(electorate)));
        }
        let signed = Event::Signed {
            id,
            version,
            vote,
            by,
        };
        let _ = self.inbox.send(Input::Core(signed));
    }

    /// Reads again who may vote. Many such looks at once are one.
    pub fn look_who_votes(&self) {
        let is_host = matches!(self.place, Place::Here { .. });
        if !is_host || self.looks.swap(true, Ordering::Relaxed) {
            return;
        }
        let hands = self.clone();
        tokio::task::spawn_blocking(move || {
            hands.looks.store(false, Ordering::Relaxed);
            let electorate = Voters::electorate(&hands);
            let _ = hands.inbox.send(Input::Core(Event::Electorate(electorate)));
        });
    }

    /// Reads again who may vote, for this proposal. Many such looks at once are one.
    pub fn look_again(&self, id: ProposalId) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(id);
        if asked.len() > 1 {
            return;
        }
        drop(asked);
        let hands = self.clone();
        tokio::task::spawn_blocking(move || {
            let asked = hands.asked.lock();
            let ids = std::mem::take(&mut *asked.unwrap_or_else(PoisonError::into_inner));
            let electorate = Voters::electorate(&hands);
            for id in ids {
                let electorate = electorate.clone();
                let looked = Event::LookedAgain { id, electorate };
                let _ = hands.inbox.send(Input::Core(looked));
            }
        });
    }

    /// Looks at the files for what waits, which may wait long, and tells the core.
    async fn watch_who_votes(self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let hands = self.clone();
            let read = tokio::task::spawn_blocking(move || Voters::electorate(&hands));
            let Ok(electorate) = read.await else {
                return;
            };
            let looked = Input::Core(Event::Electorate(electorate));
            if self.inbox.send(looked).is_err() {
                return;
            }
        }
    }
}

impl Voters for Hands {
    fn electorate(&self) -> Result<Arc<Electorate>, String> {
        match &self.place {
            Place::Here { files, .. } => files.read().map(Arc::new).map_err(|e| e.to_string()),
            Place::There(_) => Err("a reviewer's seat counts no votes".to_owned()),
        }
    }

    fn reads(&self, id: ProposalId, by: &Person) {
        let _ = self.inbox.send(Input::Claim(id, by.clone()));
    }

    fn vote(&self, id: ProposalId, version: u32, vote: Vote, via: Via) {
        let hands = self.clone();
        tokio::task::spawn_blocking(move || {
            let electorate = Voters::electorate(&hands);
            let _ = hands.inbox.send(Input::Core(Event::Electorate(electorate)));
            let cast = Event::Cast {
                id,
                version,
                vote: Box::new(vote),
                via,
            };
            let _ = hands.inbox.send(Input::Core(cast));
        });
    }
}
