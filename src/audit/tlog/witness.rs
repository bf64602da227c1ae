//! The client of witnesses: C2SP `tlog-witness`, `add-checkpoint`.
//!
//! A witness signs a checkpoint if it extends the last one that it saw of the log. What it answers is checked with its
//! key, so nothing is lost by plain HTTP: it is told a name, a number and a hash.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::str::FromStr;
use std::time::{Duration, Instant};

use super::checkpoint::Signed;
use super::error::TlogError;
use super::keys::{Kind, VerifierKey};
use super::note::{NOTE_MAX, Note, Signature};
use super::proof::hash_line;
use super::tree::{self, Nodes};
use crate::model::visible;

/// How long a witness may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A witness that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// `host:port`
    at: String,
    /// Before `/add-checkpoint`.
    prefix: String,
    key: VerifierKey,
}

impl FromStr for Witness {
    type Err = String;

    /// `http://host:port/prefix name+hash+base64`
    fn from_str(text: &str) -> Result<Self, String> {
        let (url, key) = text
            .split_once(' ')
            .ok_or("a witness reads `http://host/prefix name+hash+key`")?;
        let rest = url
            .strip_prefix("http://")
            .ok_or("a witness's address begins with http:// (its signatures are checked, so they need no TLS)")?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let plain = |c: char| c.is_ascii_graphic() && !"@?#\\\"".contains(c);
        let port = host.rsplit_once(':').filter(|_| !host.ends_with(']'));
        let port = port.map(|(name, port)| (name, port.parse::<u16>()));
        let named = match &port {
            Some((name, port)) => !name.is_empty() && port.is_ok(),
            None => !host.is_empty(),
        };
        if !named || !host.chars().all(plain) || !path.chars().all(plain) {
            return Err(format!("`{}` is no address of a witness", visible(url)));
        }
        let key: VerifierKey = key.trim().parse().map_err(|e: TlogError| e.to_string())?;
        if key.kind != Kind::Cosignature {
            return Err("the witness's key is one of a log: its base64 begins with B, as C2SP tlog-cosignature says".to_owned());
        }
        Ok(Self {
            at: if port.is_some() {
                host.to_owned()
            } else {
                format!("{host}:80")
            },
            prefix: format!("/{path}").trim_end_matches('/').to_owned(),
            key,
        })
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
            match self.ask(&body, &signed.note, until).map_err(named)? {
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

    fn ask(&self, body: &str, note: &Note, until: Instant) -> Result<Answer, String> {
        let unreachable = |e: io::Error| match e.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                "it does not answer in time".to_owned()
            }
            _ => format!("it cannot be reached: {e}"),
        };
        let (status, answer) = self
            .post(body, until)
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

    /// Status and body; `None` if the answer is not HTTP.
    fn post(&self, body: &str, until: Instant) -> io::Result<Option<(u16, Vec<u8>)>> {
        let mut addresses = self.at.to_socket_addrs()?;
        let mut failed = io::Error::from(io::ErrorKind::NotFound);
        let connected = addresses.find_map(|at| {
            let stream = left(until).and_then(|left| TcpStream::connect_timeout(&at, left));
            stream.map_err(|e| failed = e).ok()
        });
        let mut stream = connected.ok_or(failed)?;
        stream.set_write_timeout(Some(left(until)?))?;
        // Version 1.0: the answer ends where the connection does, and comes in one piece.
        let request = format!(
            "POST {}/add-checkpoint HTTP/1.0\r\nHost: {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\r\n{body}",
            self.prefix,
            self.at,
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        loop {
            stream.set_read_timeout(Some(left(until)?))?;
            match stream.read(&mut piece)? {
                0 => break,
                n => answer.extend_from_slice(&piece[..n]),
            }
            if answer.len() > NOTE_MAX || is_whole(&answer) {
                break;
            }
        }
        Ok(parsed(&answer).map(|(status, _, body)| (status, body.to_vec())))
    }
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

/// Whether an answer is as long as it says, so that a connection that stays open is not waited for.
fn is_whole(answer: &[u8]) -> bool {
    matches!(parsed(answer), Some((_, Some(length), body)) if body.len() >= length)
}

/// Status, stated length and body of an answer.
fn parsed(answer: &[u8]) -> Option<(u16, Option<usize>, &[u8])> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let mut status = lines.next()?.split(' ');
    let version = status.next()?;
    if !version.starts_with("HTTP/1.") {
        return None;
    }
    let status = status.next()?.parse().ok()?;
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    let body = &answer[end + 4..];
    let body = length.map_or(body, |length: usize| &body[..length.min(body.len())]);
    Some((status, length, body))
}

#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
