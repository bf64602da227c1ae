//! The host's end.
//!
//! Any process of the machine may connect; the kernel says whose it is, and only the people of the host's own file are
//! served. What they send is handed on; who they are is checked again where votes are counted.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::ballot::Electorate;
use crate::desk::Board;
use crate::desk::wire::{FromHost, PROTOCOL, ToHost, VOTE_MAX, line};
use crate::ipc::{FrameReader, Next};
use crate::model::{Person, ProposalId, Via, Vote};

/// Connections at a time.
const CONNECTIONS_MAX: usize = 64;
/// Of those, of one uid: nobody keeps the others out.
const OF_ONE_UID_MAX: usize = 8;
/// What one connection may send in [`SPAN`].
const SENT_MAX: u32 = 40;
const SPAN: Duration = Duration::from_secs(10);
/// How long one line may take to go out.
const PATIENCE: Duration = Duration::from_secs(30);

/// What comes from reviewers.
pub trait Voters: Clone + Send + Sync + 'static {
    /// Who may vote, read anew. Called where waiting harms nobody.
    fn electorate(&self) -> Result<Arc<Electorate>, String>;

    fn vote(&self, id: ProposalId, version: u32, vote: Vote, via: Via);

    /// A hint: this person reads that proposal.
    fn reads(&self, id: ProposalId, by: &Person);
}

/// The socket in the file system. Dropping it removes it.
#[derive(Debug)]
pub struct LocalListener {
    socket: UnixListener,
    path: PathBuf,
    made: (u64, u64),
}

impl LocalListener {
    /// Creates the socket, for every process of the machine to connect to. Must run within a tokio runtime.
    ///
    /// # Errors
    /// Something else at that place, a live socket, or a folder in which others could replace it.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let says = |text: String| io::Error::other(format!("{}: {text}", path.display()));
        let folder = path.parent().unwrap_or(Path::new("/"));
        let meta = fs::metadata(folder).map_err(|e| says(e.to_string()))?;
        let own = nix::unistd::geteuid().as_raw();
        if meta.mode() & 0o022 != 0 || (meta.uid() != own && meta.uid() != 0) {
            return Err(says(format!(
                "others can write the folder {}; give the socket one of your own (mode 0755) in which the people who \
                 review can reach it",
                folder.display()
            )));
        }
        match fs::symlink_metadata(path) {
            Ok(meta) if meta.file_type().is_socket() => {
                if std::os::unix::net::UnixStream::connect(path).is_ok() {
                    return Err(says("another program listens there".to_owned()));
                }
                fs::remove_file(path).map_err(|e| says(e.to_string()))?;
            }
            Ok(_) => return Err(says("not a socket; choose another place".to_owned())),
            Err(_) => {}
        }
        let socket = UnixListener::bind(path).map_err(|e| says(e.to_string()))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o666))
            .map_err(|e| says(e.to_string()))?;
        let meta = fs::symlink_metadata(path).map_err(|e| says(e.to_string()))?;
        Ok(Self {
            socket,
            path: path.to_owned(),
            made: (meta.dev(), meta.ino()),
        })
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        let same = |meta: fs::Metadata| (meta.dev(), meta.ino()) == self.made;
        if fs::symlink_metadata(&self.path).is_ok_and(same) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Serves reviewers until it is dropped.
pub async fn serve(listener: LocalListener, host: String, board: Board, voters: impl Voters) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let shares = Shares::default();
    let mut open = tokio::task::JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.socket.accept() => accepted,
            Some(_) = open.join_next() => continue,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let share = stream
            .peer_cred()
            .ok()
            .and_then(|peer| shares.of(peer.uid()));
        let (Some(share), Ok(place)) = (share, room.clone().try_acquire_owned()) else {
            let why = format!(
                "too many connections: {OF_ONE_UID_MAX} of one uid are served, and {CONNECTIONS_MAX} of all"
            );
            // It fits into the socket's buffer, or is lost.
            let _ = stream.try_write(&line(&FromHost::Refused { why }));
            continue;
        };
        let (host, board, voters) = (host.clone(), board.clone(), voters.clone());
        open.spawn(async move {
            let _ = converse(stream, host, board, voters).await;
            drop((place, share));
        });
    }
}

/// How many connections each uid has.
#[derive(Clone, Default)]
struct Shares(Arc<Mutex<BTreeMap<u32, usize>>>);

/// One of them, until it is dropped.
struct Share(Shares, u32);

impl Shares {
    fn of(&self, uid: u32) -> Option<Share> {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = shares.entry(uid).or_default();
        if *own >= OF_ONE_UID_MAX {
            return None;
        }
        *own += 1;
        drop(shares);
        Some(Share(self.clone(), uid))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut shares = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = shares.get_mut(&self.1) {
            *own -= 1;
            if *own == 0 {
                shares.remove(&self.1);
            }
        }
    }
}

async fn converse(
    stream: UnixStream,
    host: String,
    board: Board,
    voters: impl Voters,
) -> io::Result<()> {
    let peer = stream.peer_cred()?;
    let (reader, mut writer) = stream.into_split();
    let (uid, pid) = (peer.uid(), peer.pid().unwrap_or(0));
    let electorate = fresh(&voters).await;
    let person = match &electorate {
        Ok(electorate) => electorate
            .person_of_uid(uid)
            .cloned()
            .ok_or_else(|| format!("uid {uid} is nobody's in people.toml of `{host}`")),
        Err(why) => Err(why.clone()),
    };
    let (person, electorate) = match (person, electorate) {
        (Ok(person), Ok(electorate)) => (person, electorate),
        (Err(why), _) | (_, Err(why)) => {
            return send(&mut writer, &FromHost::Refused { why }).await;
        }
    };
    let hello = FromHost::Hello {
        protocol: PROTOCOL,
        host,
        you: person.clone(),
    };
    send(&mut writer, &hello).await?;
    let mut reading = board.read(person.clone(), electorate.roles(&person).clone());
    for line in reading.now {
        send(&mut writer, &line).await?;
    }
    let mut lines = FrameReader::new(reader, VOTE_MAX);
    let (mut since, mut sent) = (Instant::now(), 0);
    loop {
        // `fill` loses nothing when it is dropped.
        let Some(next) = lines.take() else {
            tokio::select! {
                filled = lines.fill() => filled?,
                line = reading.next.recv() => match line {
                    Some(line) => send(&mut writer, &line).await?,
                    None => return Ok(()),
                },
            }
            continue;
        };
        if since.elapsed() > SPAN {
            (since, sent) = (Instant::now(), 0);
        }
        sent += 1;
        let why = match (next, sent > SENT_MAX) {
            (Next::End, _) => return Ok(()),
            (_, true) => format!("more than {SENT_MAX} lines in {} s", SPAN.as_secs()),
            (Next::TooLong, _) => format!("a line of more than {VOTE_MAX} bytes"),
            (Next::Line(bytes), _) => match serde_json::from_slice(&bytes) {
                Ok(ToHost::Claim { proposal }) => {
                    board.claim(proposal, &person);
                    voters.reads(proposal, &person);
                    continue;
                }
                Ok(ToHost::Vote {
                    proposal,
                    version,
                    vote,
                }) => {
                    voters.vote(proposal, version, vote, Via::Socket { uid, pid });
                    continue;
                }
                Err(e) => format!("a line that is no vote: {e}"),
            },
        };
        return send(&mut writer, &FromHost::Refused { why }).await;
    }
}

async fn fresh(voters: &impl Voters) -> Result<Arc<Electorate>, String> {
    let voters = voters.clone();
    tokio::task::spawn_blocking(move || voters.electorate())
        .await
        .unwrap_or_else(|e| Err(e.to_string()))
}

async fn send(writer: &mut OwnedWriteHalf, message: &FromHost) -> io::Result<()> {
    match timeout(PATIENCE, writer.write_all(&line(message))).await {
        Ok(sent) => sent,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::HostKey;
    use crate::desk::local::{Client, ClientError};

    /// Nobody may vote, so every connection is told so and waits for nothing.
    #[derive(Clone)]
    struct Nobody;

    impl Voters for Nobody {
        fn electorate(&self) -> Result<Arc<Electorate>, String> {
            Err("nobody votes here".to_owned())
        }

        fn vote(&self, _: ProposalId, _: u32, _: Vote, _: Via) {}

        fn reads(&self, _: ProposalId, _: &crate::model::Person) {}
    }

    #[test]
    fn shares_are_given_back() {
        let shares = Shares::default();
        let held: Vec<Share> = (0..OF_ONE_UID_MAX)
            .map(|_| shares.of(1).expect("there is room"))
            .collect();
        assert!(shares.of(1).is_none());
        assert!(shares.of(2).is_some(), "another uid has its own");
        drop(held);
        assert!(shares.of(1).is_some());
        assert!(shares.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn who_is_not_served_hears_why() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("desk.sock");
        let listener = LocalListener::bind(&path).unwrap();
        let board = Board::new(HostKey::open_or_make(dir.path()).unwrap());
        tokio::spawn(serve(listener, "lab-1".to_owned(), board, Nobody));
        let refused = Client::connect(&path).await.unwrap_err();
        assert!(
            matches!(&refused, ClientError::Refused(why) if why == "nobody votes here"),
            "{refused:?}"
        );
    }
}
