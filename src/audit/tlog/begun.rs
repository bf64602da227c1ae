//! Since when a log is signed: a note that its key signed beside the first checkpoint.
//!
//! A checkpoint vouches for all records before it, from the time on at which it was made. Whoever opens a copy without its
//! checkpoints gets a new key, and what this key signs first may be long: the note says how long, and when.

use jiff::Timestamp;

use super::error::TlogError;
use super::keys::VerifierKey;
use super::note::Note;
use super::signer::Signer;

/// The beginning of a log's checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The name of the key, which is the log's origin.
    pub origin: String,
    /// The first record that was written after the key was made; those before it were there already.
    pub from: u64,
    pub at: Timestamp,
}

impl Begun {
    /// No checkpoint begins so: a name has no blank.
    fn first_line(origin: &str) -> String {
        format!("{origin} begins to be signed")
    }

    /// # Errors
    /// Why it could not be signed, in words.
    pub(super) fn note(&self, signer: &Signer, ends: impl Fn() -> bool) -> Result<Note, String> {
        let first = Self::first_line(&self.origin);
        let text = format!("{first}\n{}\n{}\n", self.from, self.at);
        let signature = signer.sign(&text, ends)?;
        Ok(Note::signed(text, signer.verifier(), &signature))
    }

    pub(super) fn read(bytes: &[u8], key: &VerifierKey) -> Result<Self, TlogError> {
        let bad = TlogError::Begun;
        let note = Note::parse(bytes)?;
        note.check(key)?;
        let lines: Vec<&str> = note.text.lines().collect();
        let [first, from, at] = lines[..] else {
            return Err(bad("it has not three lines"));
        };
        if first != Self::first_line(&key.name) {
            return Err(bad("it is about another log"));
        }
        Ok(Self {
            origin: key.name.clone(),
            from: from.parse().map_err(|_| bad("it names no record"))?,
            at: at.parse().map_err(|_| bad("it has no time"))?,
        })
    }

    /// `anchored from seq 1, since 2026-11-27T09:00:00Z, by the key countersign/…`. `through`: the last record that is signed;
    /// if it was there before the key, so was all that the key signs.
    pub fn said(&self, through: u64) -> String {
        let (from, at) = (self.from, self.at.strftime("%Y-%m-%dT%H:%M:%SZ"));
        let before = match from.saturating_sub(1) {
            0 => String::new(),
            1 => "; the record before it was there already, and no checkpoint says since when"
                .to_owned(),
            n => format!(
                "; the {n} records before it were there already, and no checkpoint says since when"
            ),
        };
        if from > through {
            return format!(
                "signed through seq {through}, at {at}, by the key {}, which was made after all of that: no checkpoint says since \
                 when it was there",
                self.origin
            );
        }
        format!(
            "anchored from seq {from}, since {at}, by the key {}{before}",
            self.origin
        )
    }
}
