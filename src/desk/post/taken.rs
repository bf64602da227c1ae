//! Which requests this host has taken, kept in its state folder: each is proposed once, also over a restart, whatever the engine says
//! again, and one whose end was not told is ended at the next start.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{Digest, ProposalId};

const FILE: &str = "requests";
/// How long a request is remembered after its deadline: clocks are set back, and engines repeat.
const KEPT: SignedDuration = SignedDuration::from_hours(24);
/// Requests that are remembered. The engine lets a login hand in at most a thousand an hour.
pub const REMEMBERED_MAX: usize = 100_000;
/// The most bytes of the file that are read: more than all of them take.
const FILE_MAX: u64 = 64 * 1024 * 1024;
/// Lines that are added before those that say nothing any more are left out.
const LINES_MAX: usize = 50_000;

/// Whose request, and its name.
pub type Key = (String, Uuid);

/// What has to be known of one to end it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// SHA-256 of the request's bytes.
    pub asked: Digest,
    /// SHA-256 of the code.
    pub code: Digest,
    pub taken_by: Timestamp,
    /// Once it is proposed.
    pub proposal: Option<ProposalId>,
    /// Whether its end was told.
    pub is_told: bool,
}

#[derive(Serialize, Deserialize)]
struct Line {
    login: String,
    request: Uuid,
    #[serde(flatten)]
    held: Held,
}

#[derive(Debug)]
pub struct Taken {
    path: PathBuf,
    file: File,
    held: BTreeMap<Key, Held>,
    lines: usize,
}

impl Taken {
    /// Opens what the state folder has of earlier starts.
    ///
    /// # Errors
    /// The file cannot be read or written. A line that a kill left incomplete is left out.
    pub fn open(state_dir: &Path, now: Timestamp) -> io::Result<Self> {
        let folder = state_dir.join("desk");
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let path = folder.join(FILE);
        let mut bytes = Vec::new();
        match OpenOptions::new()
            .read(true)
            .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC)
            .open(&path)
        {
            Ok(file) => drop(file.take(FILE_MAX).read_to_end(&mut bytes)?),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        let mut held = BTreeMap::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(Line {
                login,
                request,
                held: one,
            }) = serde_json::from_slice(line)
            {
                held.insert((login, request), one);
            }
        }
        let file = anew(&path, &mut held, now)?;
        Ok(Self {
            path,
            file,
            lines: held.len(),
            held,
        })
    }

    /// What was taken and not told the end of.
    pub fn untold(&self) -> Vec<(Key, Held)> {
        let open = self.held.iter().filter(|(_, held)| !held.is_told);
        open.map(|(key, held)| (key.clone(), held.clone()))
            .collect()
    }

    pub fn has(&self, key: &Key) -> bool {
        self.held.contains_key(key)
    }

    pub fn is_full(&self) -> bool {
        self.held.len() >= REMEMBERED_MAX
    }

    /// Keeps it before anything is done of it.
    ///
    /// # Errors
    /// It is not kept, and must not be done.
    pub fn take(&mut self, key: Key, held: Held) -> io::Result<()> {
        self.write(&key, &held)?;
        self.held.insert(key, held);
        Ok(())
    }

    /// Which proposal it is.
    ///
    /// # Errors
    /// It is not kept.
    pub fn proposed(&mut self, key: &Key, proposal: ProposalId) -> io::Result<()> {
        self.change(key, |held| held.proposal = Some(proposal))
    }

    /// Its end is at the engine.
    ///
    /// # Errors
    /// It is not kept, and told again at the next start.
    pub fn told(&mut self, key: &Key) -> io::Result<()> {
        self.change(key, |held| held.is_told = true)
    }

    fn change(&mut self, key: &Key, change: impl FnOnce(&mut Held)) -> io::Result<()> {
        let Some(held) = self.held.get_mut(key) else {
            return Ok(());
        };
        change(held);
        let held = held.clone();
        self.write(key, &held)
    }

    fn write(&mut self, (login, request): &Key, held: &Held) -> io::Result<()> {
        if self.lines >= LINES_MAX + self.held.len() {
            self.file = anew(&self.path, &mut self.held, Timestamp::now())?;
            self.lines = self.held.len();
        }
        self.lines += 1;
        self.file.write_all(&line(login, *request, held)?)?;
        self.file.sync_data()
    }
}

fn line(login: &str, request: Uuid, held: &Held) -> io::Result<Vec<u8>> {
    // A line that a kill left incomplete must not spoil this one.
    let mut bytes = vec![b'\n'];
    let line = Line {
        login: login.to_owned(),
        request,
        held: held.clone(),
    };
    serde_json::to_writer(&mut bytes, &line)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes the file with what is still of use, and opens it to add to it.
fn anew(path: &Path, held: &mut BTreeMap<Key, Held>, now: Timestamp) -> io::Result<File> {
    held.retain(|_, held| {
        !held.is_told || held.taken_by.checked_add(KEPT).is_ok_and(|end| end > now)
    });
    let beside = path.with_extension("new");
    match fs::remove_file(&beside) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    let mut all = Vec::new();
    for ((login, request), held) in held.iter() {
        all.extend(line(login, *request, held)?);
    }
    file.write_all(&all)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(taken_by: Timestamp) -> Held {
        Held {
            asked: Digest::of(b"asked"),
            code: Digest::of(b"code"),
            taken_by,
            proposal: None,
            is_told: false,
        }
    }

    fn key(login: &str, n: u8) -> Key {
        (login.to_owned(), Uuid::from_bytes([n; 16]))
    }

    #[test]
    fn what_was_taken_is_known_after_a_kill_and_ended_once() {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp::now();
        let open = |at| Taken::open(dir.path(), at).unwrap();
        let id = ProposalId::new();
        {
            let mut taken = open(now);
            for n in [1, 2, 3] {
                taken.take(key("gate_x", n), held(now)).unwrap();
            }
            taken.proposed(&key("gate_x", 1), id).unwrap();
            taken.told(&key("gate_x", 2)).unwrap();
            // As a kill leaves it.
            taken.file.write_all(b"\n{\"login\":\"gate").unwrap();
            // Another one with the same name is another login's.
            assert!(!taken.has(&key("gate_y", 1)));
        }
        let mut taken = open(now);
        let untold: Vec<_> = taken.untold();
        let expected = Held {
            proposal: Some(id),
            ..held(now)
        };
        assert_eq!(
            untold,
            [(key("gate_x", 1), expected), (key("gate_x", 3), held(now))]
        );
        assert!(taken.has(&key("gate_x", 2)), "it was told, and is known");
        taken.told(&key("gate_x", 1)).unwrap();
        drop(taken);
        let later = now + SignedDuration::from_hours(25);
        let taken = open(later);
        // What was told is forgotten after a day, and what was not is kept.
        assert!(!taken.has(&key("gate_x", 1)) && taken.has(&key("gate_x", 3)));
    }
}
