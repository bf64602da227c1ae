//! One question by HTTP or HTTPS and its answer, bounded in time and length.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use super::tls::Trust;

/// An address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// `host` or `[host]`, as in `Host`.
    host: String,
    port: u16,
    pub tls: bool,
    /// Begins with `/`, without one at its end.
    prefix: String,
}

/// Status and body.
pub(super) type Answer = (u16, Vec<u8>);

impl Address {
    /// Reads `http://host:port/prefix` or `https://host:port/prefix`; `None` if it is neither.
    pub fn parse(url: &str) -> Option<Self> {
        let (tls, rest) = match url.split_once("://")? {
            ("http", rest) => (false, rest),
            ("https", rest) => (true, rest),
            _ => return None,
        };
        let (at, path) = rest.split_once('/').unwrap_or((rest, ""));
        let plain = |c: char| c.is_ascii_graphic() && !"@?#\\\"".contains(c);
        if !at.chars().all(plain) || !path.chars().all(plain) {
            return None;
        }
        let (host, port) = match at.rsplit_once(':').filter(|_| !at.ends_with(']')) {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (at, if tls { 443 } else { 80 }),
        };
        (!host.is_empty()).then(|| Self {
            host: host.to_owned(),
            port,
            tls,
            prefix: format!("/{path}").trim_end_matches('/').to_owned(),
        })
    }

    /// The host's name as a certificate has it.
    fn name(&self) -> &str {
        let host = &self.host;
        let inner = host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        inner.unwrap_or(host)
    }

    /// Posts a text; `None` if the answer is not HTTP. Reads no more than about `most` bytes.
    pub fn post(
        &self,
        path: &str,
        body: &str,
        most: usize,
        trust: &Trust,
        until: Instant,
    ) -> io::Result<Option<Answer>> {
        let mut plain = Timed {
            stream: self.connect(until)?,
            until,
        };
        // Version 1.0: the answer ends where the connection does, and comes in one piece.
        let request = format!(
            "POST {}/{path} HTTP/1.0\r\nHost: {}:{}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\r\n{body}",
            self.prefix,
            self.host,
            self.port,
            body.len()
        );
        let answer = match self.tls {
            false => ask(&mut plain, &request, most)?,
            true => {
                let mut session = trust.session(self.name())?;
                ask(
                    &mut rustls::Stream::new(&mut session, &mut plain),
                    &request,
                    most,
                )?
            }
        };
        Ok(parsed(&answer).map(|(status, _, body)| (status, body.to_vec())))
    }

    fn connect(&self, until: Instant) -> io::Result<TcpStream> {
        let mut failed = io::Error::from(io::ErrorKind::NotFound);
        let mut addresses = (self.name(), self.port).to_socket_addrs()?;
        let connected = addresses.find_map(|at| {
            let stream = left(until).and_then(|left| TcpStream::connect_timeout(&at, left));
            stream.map_err(|e| failed = e).ok()
        });
        connected.ok_or(failed)
    }
}

fn ask(stream: &mut (impl Read + Write), request: &str, most: usize) -> io::Result<Vec<u8>> {
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    while answer.len() <= most && !is_whole(&answer) {
        match stream.read(&mut piece)? {
            0 => break,
            n => answer.extend_from_slice(&piece[..n]),
        }
    }
    Ok(answer)
}

/// A connection of which each step takes no longer than what is left.
struct Timed {
    stream: TcpStream,
    until: Instant,
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(left(self.until)?))?;
        self.stream.read(buffer)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(left(self.until)?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
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
