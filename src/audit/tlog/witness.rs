//! The client of witnesses: C2SP `tlog-witness`, `add-checkpoint`.
//!
//! A witness signs a checkpoint if it extends the last one that it saw of the log. What it answers is checked with its
//! key, so plain HTTP loses nothing of that: it is told a name, a number and a hash. HTTPS keeps these from others, and
//! others from keeping its answers.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::{Duration, Instant};

use super::checkpoint::Signed;
use super::error::TlogError;
use super::http::Address;
use super::keys::{Kind, VerifierKey};
use super::note::{NOTE_MAX, Note, Signature};
use super::proof::hash_line;
use super::tls::{self, Trust};
use super::tree::{self, Nodes};
use crate::model::visible;

/// How long a witness may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A witness that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    at: Address,
    key: VerifierKey,
}

impl FromStr for Witness {
    type Err = String;

    /// `https://host:port/prefix name+hash+base64`
    fn from_str(text: &str) -> Result<Self, String> {
        let (url, key) = text
            .split_once(' ')
            .ok_or("a witness reads `https://host/prefix name+hash+key`")?;
        let at = Address::parse(url).ok_or_else(|| {
            let url = visible(url);
            format!("`{url}` is no address of a witness; one reads `https://host:port/prefix`, or http://")
        })?;
        let key: VerifierKey = key.trim().parse().map_err(|e: TlogError| e.to_string())?;
        if key.kind != Kind::Cosignature {
            return Err("the witness's key is one of a log: its base64 begins with B, as C2SP tlog-cosignature says".to_owned());
        }
        Ok(Self { at, key })
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.key.name))
    }
}

/// What a witness answered.
enum Answer {
    Cosigned(Signature),
    /// The size of the last checkpoint that it saw.
    Saw(u64),
}

impl Witness {
    /// Whether its certificate is looked at.
    pub fn has_tls(&self) -> bool {
        self.at.tls
    }

    /// Whether it signed this note.
    pub(super) fn is_in(&self, note: &Note) -> bool {
        note.signatures.iter().any(|line| line.is_by(&self.key))
    }

    /// Has a checkpoint signed. `saw` is the size of the last one that the witness saw, as far as is known, and becomes
    /// that of this one.
    ///
    /// # Errors
    /// Why it did not sign, in words.
    pub(super) fn cosign(
        &self,
        signed: &Signed,
        saw: &mut u64,
        nodes: &impl Nodes,
        trust: &Trust,
    ) -> Result<Signature, String> {
        let until = Instant::now() + PATIENCE;
        let named = |why: String| format!("witness {self}: {why}");
        let size = signed.checkpoint.size;
        // It tells once what it saw; more often it would tell lies.
        for _ in 0..2 {
            let proof = tree::consistency(nodes, *saw, size)
                .map_err(|e| named(format!("the proof for it cannot be made: {e}")))?;
            let proof: String = proof.iter().map(hash_line).collect();
            let body = format!("old {saw}\n{proof}\n{}", signed.note.print());
            match self.ask(&body, &signed.note, trust, until).map_err(named)? {
                Answer::Cosigned(signature) => {
                    *saw = size;
                    return Ok(signature);
                }
                Answer::Saw(seen) if seen > size => {
                    return Err(named(format!(
                        "it saw {seen} records of this log, which now has {size}: the log was cut or rolled back"
                    )));
                }
                Answer::Saw(seen) => *saw = seen,
            }
        }
        Err(named("it contradicts itself about what it saw".to_owned()))
    }

    fn ask(
        &self,
        body: &str,
        note: &Note,
        trust: &Trust,
        until: Instant,
    ) -> Result<Answer, String> {
        let unreachable = |e: io::Error| match (tls::refused(&e), e.kind()) {
            (Some(why), _) => {
                format!(
                    "its certificate is refused: {why} (`witness_ca` names private authorities)"
                )
            }
            (None, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
                "it does not answer in time".to_owned()
            }
            _ => format!("it cannot be reached: {e}"),
        };
        let (status, answer) = self
            .at
            .post("add-checkpoint", body, NOTE_MAX, trust, until)
            .map_err(unreachable)?
            .ok_or("its answer is not HTTP")?;
        match status {
            200 => self.cosignature(&answer, note).map(Answer::Cosigned),
            409 => {
                let size = std::str::from_utf8(&answer)
                    .ok()
                    .and_then(|text| text.strip_suffix('\n'));
                let size = size
                    .and_then(|text| text.parse::<u64>().ok().filter(|n| n.to_string() == text));
                size.map(Answer::Saw)
                    .ok_or_else(|| "its conflict names no size".to_owned())
            }
            403 => Err("it does not trust this log's key (403)".to_owned()),
            404 => Err("it does not know this log (404)".to_owned()),
            422 => Err("the log does not extend what it saw, it says (422)".to_owned()),
            other => Err(format!("it answers with status {other}")),
        }
    }

    /// The witness's own line; others are ignored.
    fn cosignature(&self, answer: &[u8], note: &Note) -> Result<Signature, String> {
        let garbage = || "its answer is no signature".to_owned();
        let text = std::str::from_utf8(answer).map_err(|_| garbage())?;
        let lines = text.strip_suffix('\n').ok_or_else(garbage)?.split('\n');
        let lines = lines
            .map(Signature::parse)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| garbage())?;
        let found = lines.into_iter().find(|line| line.is_by(&self.key));
        let signature = found.ok_or("it signed with another key than the configured one")?;
        let alone = Note {
            text: note.text.clone(),
            signatures: vec![signature.clone()],
        };
        alone.check(&self.key).map_err(|e| e.to_string())?;
        Ok(signature)
    }
}

#[cfg(test)]
#[path = "witness_certificates.rs"]
mod certificates;
#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "witness_tls_tests.rs"]
mod tls_tests;
