//! Walks the chain from its first line to its end, or to the first thing that is wrong.

use std::io::{self, BufRead, BufReader, Read};

use serde::Deserialize;

use super::AuditError;
use super::error::Damage;
use super::layout::{Layout, open_regular, segment_name};
use super::line::{GENESIS, LINE_MAX, LineRole, VERSION, claimed_seq, unseal};
use super::mark::Mark;
use super::traces;
use crate::model::{Digest, visible};

/// Where a sound log ends; the next line goes there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Number of the last segment; 0 when there is none.
    pub segment: u64,
    /// Sequence number of the last record; 0 when there is none.
    pub seq: u64,
    /// Hash of the last line.
    pub hash: Digest,
    /// Bytes of the last segment up to and including its last sound line.
    pub offset: u64,
    /// Whether the last segment has its header.
    pub headed: bool,
}

impl Head {
    pub fn mark(&self) -> Mark {
        Mark {
            segment: self.segment,
            offset: self.offset,
        }
    }
}

/// The end of a segment, or a place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    pub segment: u64,
    pub seq: u64,
    pub hash: Digest,
}

/// What a walk found.
#[derive(Debug)]
pub(super) struct Scanned {
    /// The end of what is sound.
    pub head: Head,
    /// The last line of the last segment has no line feed: this many bytes from `head.offset`. A
    /// crash leaves that; so does a writer in the middle of a line.
    pub torn: Option<u64>,
    /// The first thing that is wrong; nothing after it was looked at.
    pub damage: Option<Damage>,
    /// Where what was removed under retention ends.
    pub removed: Option<Boundary>,
    /// Whether nothing is missing before what is there but what a record says was removed.
    pub vouched: bool,
    /// The first line of a later version of the format.
    pub later: Option<Damage>,
}

/// A record in its place.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub file: &'a str,
    /// Counted from 1.
    pub number: u64,
    pub seq: u64,
    /// Of the format.
    pub v: u32,
    /// With the hash of this line.
    pub boundary: Boundary,
    /// Without the line feed.
    pub bytes: &'a [u8],
}

/// Walks all segments and shows every record whose place in the chain is right to `visit`, which
/// may object to its content.
///
/// # Errors
/// When a file cannot be read at all; what the bytes say is never an error but damage.
pub(super) fn scan(
    layout: &Layout,
    mut visit: impl FnMut(&Line<'_>) -> Result<(), String>,
) -> Result<Scanned, AuditError> {
    let numbers = match layout.segments() {
        Ok(numbers) => numbers,
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(AuditError::io(layout.log(), "read", e)),
    };
    let mut walk = Walk {
        head: Head {
            segment: 0,
            seq: 0,
            hash: GENESIS,
            offset: 0,
            headed: true,
        },
        torn: None,
        damage: None,
        ends: Vec::new(),
        vouched: true,
        later: None,
    };
    if numbers.is_empty()
        && let Some(trace) =
            traces::of(layout).map_err(|e| AuditError::io(&layout.state, "read", e))?
    {
        let what = format!("this segment is missing, and {trace}: there was a log");
        walk.missing(1, &what);
    }
    let last = numbers.last().copied();
    if let Some(first @ 2..) = numbers.first().copied() {
        // Its header says what went before; a record further on has to say the same.
        walk.head.segment = first - 1;
        walk.vouched = false;
    }
    for number in numbers {
        if number != walk.head.segment + 1 {
            walk.missing(walk.head.segment + 1, "this segment is missing");
            break;
        }
        walk.segment(layout, number, Some(number) == last, &mut visit)?;
        if walk.damage.is_some() {
            break;
        }
    }
    if !walk.vouched && walk.damage.is_none() {
        walk.damage = Some(Damage {
            file: format!("log/{}", segment_name(1)),
            line: None,
            seq: Some(1),
            what: "this segment is missing, and no record says that it was removed".to_owned(),
        });
    }
    Ok(Scanned {
        head: walk.head,
        torn: walk.torn,
        damage: walk.damage,
        removed: walk.ends.first().copied().filter(|_| walk.vouched),
        vouched: walk.vouched,
        later: walk.later,
    })
}

/// What a record of a removal says, and of other records only their kind.
#[derive(Deserialize)]
struct Removal {
    kind: String,
    through_segment: Option<u64>,
    through_seq: Option<u64>,
    head: Option<Digest>,
}

struct Walk {
    head: Head,
    torn: Option<u64>,
    damage: Option<Damage>,
    /// Of a log without its beginning: where each segment before one that is there ended, as the
    /// headers say. The first is where what is missing ended.
    ends: Vec<Boundary>,
    /// Whether nothing is missing before the first segment, or a record says that it was removed.
    vouched: bool,
    later: Option<Damage>,
}

impl Walk {
    fn missing(&mut self, segment: u64, what: &str) {
        self.damage = Some(Damage {
            file: format!("log/{}", segment_name(segment)),
            line: None,
            seq: Some(self.head.seq + 1),
            what: what.to_owned(),
        });
    }

    fn segment(
        &mut self,
        layout: &Layout,
        number: u64,
        last: bool,
        visit: &mut impl FnMut(&Line<'_>) -> Result<(), String>,
    ) -> Result<(), AuditError> {
        let path = layout.segment(number);
        let unreadable = |e| AuditError::io(&path, "read", e);
        let file = format!("log/{}", segment_name(number));
        let mut reader =
            BufReader::with_capacity(256 * 1024, open_regular(&path).map_err(unreadable)?);
        self.head.segment = number;
        self.head.offset = 0;
        self.head.headed = false;
        let mut buffer = Vec::new();
        for line in 1.. {
            buffer.clear();
            let read = (&mut reader)
                .take(LINE_MAX as u64 + 1)
                .read_until(b'\n', &mut buffer)
                .map_err(unreadable)?;
            let complete = buffer.last() == Some(&b'\n');
            if read == 0 {
                // A segment that ends before its header was written ends in a crash.
                if !self.head.headed && last {
                    self.torn = Some(0);
                } else if !self.head.headed {
                    self.damage(&file, None, "it is empty", None);
                }
                return Ok(());
            }
            if buffer.len() > LINE_MAX {
                self.damage(&file, Some(line), "it is longer than any record", None);
                return Ok(());
            }
            if !complete {
                if last {
                    self.torn = Some(read as u64);
                } else {
                    self.damage(
                        &file,
                        Some(line),
                        "its end is missing",
                        claimed_seq(&buffer),
                    );
                }
                return Ok(());
            }
            buffer.pop();
            if let Err(what) = self.line(&file, line, &buffer, visit) {
                self.damage(&file, Some(line), &what, claimed_seq(&buffer));
                return Ok(());
            }
            self.head.offset += read as u64;
        }
        Ok(())
    }

    fn line(
        &mut self,
        file: &str,
        number: u64,
        bytes: &[u8],
        visit: &mut impl FnMut(&Line<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let sealed = unseal(bytes)?;
        if sealed.v > VERSION && self.later.is_none() {
            self.later = Some(Damage {
                file: file.to_owned(),
                line: Some(number),
                seq: claimed_seq(bytes),
                what: format!("it is of version {} of the format", sealed.v),
            });
        }
        if let (1, LineRole::Header { first_seq, .. }) = (number, sealed.place)
            && (!self.vouched || !self.ends.is_empty())
        {
            if self.ends.is_empty() {
                self.head.seq = first_seq.saturating_sub(1);
                self.head.hash = sealed.prev;
            }
            self.ends.push(Boundary {
                segment: self.head.segment - 1,
                seq: self.head.seq,
                hash: self.head.hash,
            });
        }
        let next = self.head.seq + 1;
        match (number, sealed.place) {
            (1, LineRole::Header { segment, first_seq }) => {
                if segment != self.head.segment {
                    return Err(format!("it is the header of segment {segment}"));
                }
                if first_seq != next {
                    return Err(format!(
                        "it begins at seq {first_seq}, {next} should follow"
                    ));
                }
            }
            (1, LineRole::Record { .. }) => {
                return Err("the segment's header is missing".to_owned());
            }
            (_, LineRole::Header { .. }) => return Err("a header stands among records".to_owned()),
            (_, LineRole::Record { seq, .. }) if seq != next => {
                return Err(format!("seq {next} should stand here"));
            }
            (_, LineRole::Record { .. }) => {}
        }
        if sealed.prev != self.head.hash {
            return Err("it does not follow the line before it".to_owned());
        }
        if let LineRole::Record { seq, .. } = sealed.place {
            if !self.vouched {
                self.removal(bytes)?;
            }
            visit(&Line {
                file,
                number,
                seq,
                v: sealed.v,
                boundary: Boundary {
                    segment: self.head.segment,
                    seq,
                    hash: sealed.hash,
                },
                bytes,
            })?;
            self.head.seq = seq;
        } else {
            self.head.headed = true;
        }
        self.head.hash = sealed.hash;
        Ok(())
    }

    /// Looks whether a record vouches for what is missing. Removing ends at a segment's end; a crash
    /// can have left the last ones of what was to go.
    fn removal(&mut self, bytes: &[u8]) -> Result<(), String> {
        const KIND: &[u8] = b"\"kind\":\"pruned\"";
        if !bytes.windows(KIND.len()).any(|window| window == KIND) {
            return Ok(());
        }
        let said: Removal =
            serde_json::from_slice(bytes).map_err(|e| format!("it is no record: {e}"))?;
        let (Some(segment), Some(seq), Some(hash)) =
            (said.through_segment, said.through_seq, said.head)
        else {
            return Ok(());
        };
        let missing = self.ends.first().map_or(0, |end| end.segment);
        if said.kind != "pruned" || segment < missing {
            return Ok(());
        }
        let named = Boundary { segment, seq, hash };
        if !self.ends.contains(&named) {
            return Err("it names another end of what was removed".to_owned());
        }
        self.vouched = true;
        Ok(())
    }

    fn damage(&mut self, file: &str, line: Option<u64>, what: &str, claimed: Option<u64>) {
        self.damage = Some(Damage {
            file: file.to_owned(),
            line,
            seq: Some(claimed.unwrap_or(self.head.seq + 1)),
            // It may quote the line.
            what: visible(&what.chars().take(300).collect::<String>()).into_owned(),
        });
    }
}
