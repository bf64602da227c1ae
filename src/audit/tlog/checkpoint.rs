//! Checkpoints: C2SP `tlog-checkpoint`. A signed note that states how many records a log has, and the root over them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::error::TlogError;
use super::keys::VerifierKey;
use super::note::Note;
use super::signer::Signer;
use super::tree::SIZE_MAX;
use crate::model::Digest;

/// What a checkpoint states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub origin: String,
    pub size: u64,
    pub root: Digest,
}

/// A checkpoint whose signature was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    pub checkpoint: Checkpoint,
    /// With the signatures of others too.
    pub note: Note,
}

impl Checkpoint {
    fn text(&self) -> String {
        format!(
            "{}\n{}\n{}\n",
            self.origin,
            self.size,
            STANDARD.encode(self.root.as_bytes())
        )
    }

    fn parse(text: &str) -> Result<Self, TlogError> {
        let bad = TlogError::Checkpoint;
        let mut lines = text.split_terminator('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next())
        else {
            return Err(bad("it has not three lines"));
        };
        if origin.is_empty() {
            return Err(bad("its first line, the origin, is empty"));
        }
        let digits = size;
        let size = size
            .parse::<u64>()
            .ok()
            .filter(|size| *size <= SIZE_MAX && size.to_string() == digits);
        let size = size.ok_or(bad("its second line is not a size"))?;
        let decoded = STANDARD
            .decode(root)
            .ok()
            .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let root = Digest::from_bytes(decoded.ok_or(bad("its third line is not a root hash"))?);
        // Nobody audits more lines, so nobody can rely on them.
        if lines.next().is_some() {
            return Err(bad("it has more lines than origin, size and root"));
        }
        if size == 0 && root != Digest::of(b"") {
            return Err(bad("its root is not that of a log without records"));
        }
        Ok(Self {
            origin: origin.to_owned(),
            size,
            root,
        })
    }
}

impl Signed {
    /// # Errors
    /// Why it could not be signed, in words.
    pub(super) fn by(
        signer: &Signer,
        checkpoint: Checkpoint,
        ends: impl Fn() -> bool,
    ) -> Result<Self, String> {
        let text = checkpoint.text();
        let signature = signer.sign(&text, ends)?;
        let note = Note::signed(text, signer.verifier(), &signature);
        Ok(Self { checkpoint, note })
    }

    #[cfg(test)]
    pub fn new(checkpoint: Checkpoint, key: &super::keys::SignerKey) -> Self {
        let text = checkpoint.text();
        let note = Note::signed(text.clone(), &key.verifier, &key.sign(text.as_bytes()));
        Self { checkpoint, note }
    }

    /// The note with the signature of this key alone.
    pub fn by_its_log(&self, key: &VerifierKey) -> String {
        let mut note = self.note.clone();
        note.signatures.retain(|line| line.is_by(key));
        note.print()
    }

    /// Reads a checkpoint that this key signed, whose name is the log's origin.
    pub fn read(bytes: &[u8], key: &VerifierKey) -> Result<Self, TlogError> {
        let note = Note::parse(bytes)?;
        let checkpoint = Checkpoint::parse(&note.text)?;
        if checkpoint.origin != key.name {
            return Err(TlogError::OtherOrigin {
                wanted: key.name.clone(),
                found: checkpoint.origin.chars().take(300).collect(),
            });
        }
        note.check(key)?;
        Ok(Self { checkpoint, note })
    }
}
