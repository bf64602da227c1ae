//! The key with which a host signs what it offers and says. It is made at the first need, and lies in the state folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use ssh_key::private::{Ed25519Keypair, KeypairData};
use ssh_key::{HashAlg, LineEnding, PrivateKey};

use crate::ballot::Key;
use crate::model::HOST_NAMESPACE;

/// The folder of the desk's own files below the state folder.
const FOLDER: &str = "desk";
const FILE: &str = "host_key";
/// The most bytes of a key file that are read.
const FILE_MAX: u64 = 4 * 1024;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum HostKeyError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: {why}", path.display())]
    Unfit { path: PathBuf, why: String },
}

/// A host's key pair.
pub struct HostKey {
    private: PrivateKey,
    public: Key,
}

impl std::fmt::Debug for HostKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostKey({})", self.public.fingerprint())
    }
}

impl HostKey {
    /// Opens the key of this state folder, or makes one. Its public half lies beside it, for the reviewers' file of hosts.
    ///
    /// # Errors
    /// A file that is there and is no ed25519 key of our own, without a passphrase, that nobody else can read.
    pub fn open_or_make(state_dir: &Path) -> Result<Self, HostKeyError> {
        let path = Self::path(state_dir);
        match Self::open(&path) {
            Err(HostKeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Self::make(&path)?;
                Self::open(&path)
            }
            opened => opened,
        }
    }

    /// Where the key of this state folder is.
    pub fn path(state_dir: &Path) -> PathBuf {
        state_dir.join(FOLDER).join(FILE)
    }

    /// The public half that lies beside the key of this state folder, if there is one.
    pub fn public_of(state_dir: &Path) -> Option<Key> {
        let mut text = String::new();
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC)
            .open(Self::path(state_dir).with_extension("pub"));
        file.ok()?.take(FILE_MAX).read_to_string(&mut text).ok()?;
        Key::read(&text).ok()
    }

    fn open(path: &Path) -> Result<Self, HostKeyError> {
        let failed = |source| HostKeyError::Io {
            path: path.to_owned(),
            source,
        };
        let unfit = |why: String| HostKeyError::Unfit {
            path: path.to_owned(),
            why,
        };
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC)
            .open(path)
            .map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        let own = nix::unistd::geteuid().as_raw();
        if !meta.is_file() || meta.uid() != own {
            return Err(unfit(format!(
                "must be a file of uid {own}, who runs this program"
            )));
        }
        if meta.mode() & 0o077 != 0 {
            return Err(unfit(format!(
                "mode {:04o} lets others read it; run `chmod 600` on it, and better: remove it, so that a new one is made",
                meta.mode() & 0o7777
            )));
        }
        let mut text = String::new();
        file.take(FILE_MAX)
            .read_to_string(&mut text)
            .map_err(failed)?;
        let private = PrivateKey::from_openssh(&text)
            .map_err(|e| unfit(format!("is no key of OpenSSH: {e}")))?;
        if !matches!(private.key_data(), KeypairData::Ed25519(_)) {
            return Err(unfit(
                "must be an ed25519 key without a passphrase".to_owned(),
            ));
        }
        let line = private
            .public_key()
            .to_openssh()
            .map_err(|e| unfit(e.to_string()))?;
        let public = Key::read(&line).map_err(|e| unfit(e.to_string()))?;
        Ok(Self { private, public })
    }

    fn make(path: &Path) -> Result<(), HostKeyError> {
        let failed = |source| HostKeyError::Io {
            path: path.to_owned(),
            source,
        };
        let mut seed = [0_u8; 32];
        getrandom::fill(&mut seed).map_err(|e| failed(io::Error::other(e.to_string())))?;
        let pair = Ed25519Keypair::from_seed(&seed);
        let private = PrivateKey::new(KeypairData::Ed25519(pair), "countersign host");
        let private = private.map_err(|e| failed(io::Error::other(e.to_string())))?;
        let text = |e: ssh_key::Error| failed(io::Error::other(e.to_string()));
        let secret = private.to_openssh(LineEnding::LF).map_err(text)?;
        let public = private.public_key().to_openssh().map_err(text)?;
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(failed)?;
        }
        let write = |path: &Path, mode: u32, text: &str| {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        // The public half first: the key itself is there only once both are.
        let beside = path.with_extension("pub");
        match fs::remove_file(&beside) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
        write(&beside, 0o644, &format!("{public}\n")).map_err(failed)?;
        write(path, 0o600, &secret).map_err(failed)
    }

    pub fn public(&self) -> &Key {
        &self.public
    }

    /// Signs what this host says (PROTOCOL.sshsig, namespace [`HOST_NAMESPACE`]).
    ///
    /// # Errors
    /// A description; an ed25519 key signs anything.
    pub fn sign(&self, bytes: &[u8]) -> Result<String, String> {
        let signed = self.private.sign(HOST_NAMESPACE, HashAlg::Sha512, bytes);
        let signed = signed.map_err(|e| e.to_string())?;
        signed.to_pem(LineEnding::LF).map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::ballot::signed_by;

    #[test]
    fn a_key_is_made_once_and_signs_what_its_public_half_verifies() {
        let dir = tempfile::tempdir().unwrap();
        let key = HostKey::open_or_make(dir.path()).unwrap();
        let again = HostKey::open_or_make(dir.path()).unwrap();
        assert_eq!(key.public(), again.public());
        let beside = fs::read_to_string(HostKey::path(dir.path()).with_extension("pub")).unwrap();
        assert_eq!(&Key::read(&beside).unwrap(), key.public());
        let signature = key.sign(b"an offer").unwrap();
        assert!(signed_by(key.public(), &signature, HOST_NAMESPACE, b"an offer").is_ok());
        assert!(signed_by(key.public(), &signature, HOST_NAMESPACE, b"another").is_err());
        assert!(
            signed_by(
                key.public(),
                &signature,
                crate::model::NAMESPACE,
                b"an offer"
            )
            .is_err()
        );
    }

    #[test]
    fn a_key_that_others_can_read_or_that_is_no_key_stops_the_start() {
        let dir = tempfile::tempdir().unwrap();
        HostKey::open_or_make(dir.path()).unwrap();
        let path = HostKey::path(dir.path());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let why = HostKey::open_or_make(dir.path()).unwrap_err().to_string();
        assert!(why.contains("0640") && why.contains("chmod 600"), "{why}");
        fs::write(&path, "no key").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let why = HostKey::open_or_make(dir.path()).unwrap_err().to_string();
        assert!(why.contains("is no key of OpenSSH"), "{why}");
    }
}
