//! Reads the three files that say who may vote, if nobody who votes could have written them.

use std::path::{Path, PathBuf};

use crate::ballot::{BallotError, Electorate, VotingFile};
use crate::config::DeskConfig;
use crate::paths::{Distrust, Trust, UntrustedFile, read_trusted};

/// Where the three files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VotingFiles {
    pub signers: PathBuf,
    pub people: PathBuf,
    pub revoked: PathBuf,
}

/// Why nobody may vote.
#[derive(Debug, thiserror::Error)]
pub enum NoElectorate {
    #[error("{file} is needed to know who may vote: {why}{remedy}")]
    Untrusted {
        file: VotingFile,
        #[source]
        why: UntrustedFile,
        remedy: String,
    },
    #[error("{}{}: {}", path.display(), line(wrong.line), wrong.message)]
    Wrong { path: PathBuf, wrong: BallotError },
}

fn line(number: Option<usize>) -> String {
    number.map_or_else(String::new, |number| format!(":{number}"))
}

impl From<&DeskConfig> for VotingFiles {
    fn from(config: &DeskConfig) -> Self {
        Self {
            signers: config.signers.clone(),
            people: config.people.clone(),
            revoked: config.revoked.clone(),
        }
    }
}

impl VotingFiles {
    /// Reads each file once. All must be root's, and nobody else may write them or any folder on the way: whoever could
    /// would decide alone.
    pub fn read(&self) -> Result<Electorate, NoElectorate> {
        let signers = self.text(VotingFile::Signers)?;
        let people = self.text(VotingFile::People)?;
        let revoked = self.text(VotingFile::Revoked)?;
        Electorate::read(signers.as_bytes(), people.as_bytes(), revoked.as_bytes()).map_err(
            |wrong| NoElectorate::Wrong {
                path: self.path(wrong.file).to_owned(),
                wrong,
            },
        )
    }

    fn path(&self, file: VotingFile) -> &Path {
        match file {
            VotingFile::Signers => &self.signers,
            VotingFile::People => &self.people,
            VotingFile::Revoked => &self.revoked,
        }
    }

    fn text(&self, file: VotingFile) -> Result<String, NoElectorate> {
        let path = self.path(file);
        read_trusted(path, Trust::Root).map_err(|why| NoElectorate::Untrusted {
            file,
            remedy: remedy(file, path, &why),
            why,
        })
    }
}

/// What to do, where the reason does not say it.
fn remedy(file: VotingFile, path: &Path, why: &UntrustedFile) -> String {
    let path = path.display();
    match (&why.why, file) {
        _ if !why.is_missing() && !matches!(why.why, Distrust::Owner { .. }) => String::new(),
        (Distrust::Owner { .. }, _) => format!(
            "; who owns it could let anybody vote: run `sudo chown root:root {}`",
            why.path.display()
        ),
        (_, VotingFile::Revoked) => format!(
            "; if no key is revoked, make an empty one: `sudo install -m 644 /dev/null {path}`"
        ),
        _ => format!("; make it as root with mode 0644: {path}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use super::*;

    #[test]
    fn files_that_a_voter_could_have_written_let_nobody_vote() {
        if !crate::given::is_given_to_root(nix::unistd::geteuid().is_root(), "root") {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let files = VotingFiles {
            signers: at("allowed_signers"),
            people: at("people.toml"),
            revoked: at("revoked_keys"),
        };
        let fresh = |name: &str, text: &str| {
            write(at(name), text).unwrap();
            set_permissions(at(name), Permissions::from_mode(0o644)).unwrap();
        };
        fresh("allowed_signers", "# nobody yet\n");
        fresh("people.toml", "[people.ana]\nuids = [1000]\n");
        let said = || files.read().map_err(|e| e.to_string());
        let missing = said().unwrap_err();
        assert!(
            missing.starts_with("revoked_keys is needed")
                && missing.contains("make an empty one: `sudo install -m 644 /dev/null /"),
            "{missing}"
        );
        fresh("revoked_keys", "");
        let read = said().unwrap();
        assert_eq!(read.people().count(), 1);

        for name in ["allowed_signers", "people.toml", "revoked_keys"] {
            for mode in [0o664, 0o646] {
                set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
                let open = said().unwrap_err();
                assert!(open.contains("others can write it"), "{open}");
                set_permissions(at(name), Permissions::from_mode(0o644)).unwrap();
            }
            chown(at(name), Some(1000), None).unwrap();
            let owned = said().unwrap_err();
            assert!(
                owned.contains("owned by uid 1000; it must belong to root; ")
                    && owned.contains("`sudo chown root:root /"),
                "{owned}"
            );
            chown(at(name), Some(0), None).unwrap();
        }
        for (mode, owner) in [(0o777, 0), (0o1777, 0), (0o775, 0), (0o755, 1000)] {
            set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
            chown(dir.path(), Some(owner), None).unwrap();
            assert!(said().is_err(), "{mode:o} {owner}");
        }
        chown(dir.path(), Some(0), None).unwrap();
        set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        fresh("people.toml", "[people.ana]\nuid = [1]\n");
        let wrong = said().unwrap_err();
        let wanted = format!("{}:2: unknown key `uid`", at("people.toml").display());
        assert!(wrong.starts_with(&wanted), "{wrong}");
    }
}
