//! When a run printed what, for playing its output back in its timing.

use serde::{Deserialize, Serialize};

use super::StreamName;

/// The pieces in which output arrived, in their order. Bounded: what comes close together becomes one piece, and closer
/// is wider the longer a run prints.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pace {
    pieces: Vec<Piece>,
    /// Milliseconds within which pieces of one stream are one.
    #[serde(skip)]
    close: u64,
}

impl PartialEq for Pace {
    fn eq(&self, other: &Self) -> bool {
        self.pieces == other.pieces
    }
}

impl Eq for Pace {}

/// Milliseconds after the release, the stream, and the bytes of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece(pub u64, pub StreamName, pub u64);

impl Pace {
    /// Most pieces: about 10 KB in the log.
    pub const MOST: usize = 400;
    /// No person sees two pieces within this time apart.
    const CLOSE: u64 = 16;

    /// Whether nothing was printed, or the log does not say when.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Counts the bytes of a stream anew: `now` says where a byte stands in its text as it is kept.
    pub fn moves(&mut self, stream: StreamName, now: impl Fn(u64) -> u64) {
        let (mut was, mut is) = (0_u64, 0);
        for piece in self.pieces.iter_mut().filter(|piece| piece.1 == stream) {
            was = was.saturating_add(piece.2);
            let end = now(was).max(is);
            piece.2 = end - is;
            is = end;
        }
    }

    pub fn push(&mut self, ms: u64, stream: StreamName, bytes: u64) {
        self.close = self.close.max(Self::CLOSE);
        self.join(Piece(ms, stream, bytes));
        while self.pieces.len() > Self::MOST {
            let wider = self.close.saturating_mul(2);
            let pieces = std::mem::take(&mut self.pieces);
            self.close = wider;
            for piece in pieces {
                self.join(piece);
            }
            // Streams that take turns for ever: what is left comes with the last piece of each.
            if self.pieces.len() > Self::MOST && wider > 60_000 {
                self.fold();
            }
        }
    }

    fn join(&mut self, piece: Piece) {
        match self.pieces.last_mut() {
            Some(last) if last.1 == piece.1 && piece.0.saturating_sub(last.0) < self.close => {
                last.2 = last.2.saturating_add(piece.2);
            }
            _ => self.pieces.push(piece),
        }
    }

    /// Joins the last piece to the one before it of the same stream.
    fn fold(&mut self) {
        while self.pieces.len() > Self::MOST
            && let Some(last) = self.pieces.pop()
        {
            match self.pieces.iter_mut().rfind(|piece| piece.1 == last.1) {
                Some(before) => before.2 = before.2.saturating_add(last.2),
                // In time with what is there.
                None => {
                    let first = self.pieces.first().map_or(last.0, |piece| piece.0);
                    self.pieces.insert(0, Piece(first, last.1, last.2));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_and_loses_no_byte_of_either_stream() {
        for turns in [1, 2, 7, 1_000_000] {
            for step in [0, 5, 40, 5_000] {
                let mut pace = Pace::default();
                let (mut printed, mut at) = ([0, 0], 0);
                for n in 0..5_000_u64 {
                    let stream = match (n / turns) % 2 {
                        0 => StreamName::Stdout,
                        _ => StreamName::Stderr,
                    };
                    at += step;
                    printed[usize::from(stream == StreamName::Stderr)] += n;
                    pace.push(at, stream, n);
                }
                assert!(pace.pieces().len() <= Pace::MOST, "{turns} {step}");
                let of = |stream| -> u64 {
                    let all = pace.pieces().iter();
                    all.filter(|p| p.1 == stream).map(|p| p.2).sum()
                };
                assert_eq!([of(StreamName::Stdout), of(StreamName::Stderr)], printed);
                let ordered = pace.pieces().windows(2).all(|w| w[0].0 <= w[1].0);
                assert!(ordered, "{turns} {step}");
            }
        }
    }

    #[test]
    fn pieces_that_no_eye_tells_apart_are_one() {
        let mut pace = Pace::default();
        for (ms, stream) in [
            (0, StreamName::Stdout),
            (3, StreamName::Stdout),
            (4, StreamName::Stderr),
            (900, StreamName::Stderr),
        ] {
            pace.push(ms, stream, 10);
        }
        let json = serde_json::to_string(&pace).unwrap();
        assert_eq!(
            json,
            r#"[[0,"stdout",20],[4,"stderr",10],[900,"stderr",10]]"#
        );
    }
}
