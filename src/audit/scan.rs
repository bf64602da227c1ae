//! Walks the chain from its first line to its end, or to the first fault.

use std::io;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::AuditError;
use super::error::Damage;
use super::layout::{Layout, segment_name};
use super::line::{GENESIS, LINE_MAX, LineRole, Sealed, VERSION, claimed_seq};
use super::lines::{Ahead, Lines, OneByOne};
use super::mark::Mark;
use super::traces;
use crate::model::{Digest, visible};

/// The end of the sound part of a log, where the next line goes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Head {
    /// Number of the last segment; 0 if there is none.
    pub segment: u64,
    /// Sequence number of the last record; 0 if there is none.
    pub seq: u64,
    /// Hash of the last line: of a record, or of the header of a segment that has none yet.
    pub hash: Digest,
    /// Hash of the last record. `None` if there is none, and in what earlier versions wrote down.
    #[serde(default)]
    pub record: Option<Digest>,
    /// Length of the last segment up to and including its last sound line.
    pub offset: u64,
    /// Whether the last segment has its header.
    pub headed: bool,
}

impl Head {
    /// Hash of the record `seq`, as far as it is known: of the last line otherwise.
    pub fn record(&self) -> Digest {
        self.record.unwrap_or(self.hash)
    }

    pub fn mark(&self) -> Mark {
        Mark {
            segment: self.segment,
            offset: self.offset,
        }
    }
}

/// A place in the chain: after the record `seq` of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Boundary {
    pub segment: u64,
    pub seq: u64,
    pub hash: Digest,
}

/// The result of a walk.
#[derive(Debug)]
pub(super) struct Scanned {
    /// The end of the sound part.
    pub head: Head,
    /// Length of a last line without a line feed, which begins at `head.offset`. A crash leaves one, and so
    /// does a writer in the middle of a line.
    pub torn: Option<u64>,
    /// The first fault; nothing after it was read.
    pub damage: Option<Damage>,
    /// The end of the segments that retention removed.
    pub removed: Option<Boundary>,
    /// Whether every missing first segment is accounted for by a record of its removal.
    pub beginning_known: bool,
    /// The first line of a later version of the format.
    pub later: Option<Damage>,
}

/// A line whose place in the chain is right.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub file: &'a str,
    /// Line number, counted from 1.
    pub number: u64,
    /// Where in the segment it begins.
    pub offset: u64,
    pub seq: u64,
    /// Version of the format.
    pub v: u32,
    /// The place after this line.
    pub boundary: Boundary,
    /// Without the line feed.
    pub bytes: &'a [u8],
    pub ahead: Ahead<'a>,
}

/// Walks all segments and passes every record whose place in the chain is right to `visit`, which may reject
/// its content.
///
/// # Errors
/// When a file cannot be read at all. Bad content is damage, not an error.
pub(super) fn scan(
    layout: &Layout,
    lines: &mut dyn Lines,
    visit: impl FnMut(&Line<'_>) -> Result<(), String>,
) -> Result<Scanned, AuditError> {
    let mut walk = Walk::default();
    walk.go_on_with(layout, lines, visit)?;
    Ok(walk.scanned())
}

/// The fields of a `pruned` record; of other records only the kind is read.
#[derive(Deserialize)]
struct Removal {
    kind: String,
    through_segment: Option<u64>,
    through_seq: Option<u64>,
    head: Option<Digest>,
}

/// A walk that can go on later, when the log has grown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Walk {
    head: Head,
    /// Lines read of the segment of `head`.
    lines: u64,
    torn: Option<u64>,
    damage: Option<Damage>,
    /// For a log without its beginning: the end of the segment before each existing one, according to the
    /// headers. The first is the end of the missing part.
    ends: Vec<Boundary>,
    /// See [`Scanned::beginning_known`].
    beginning_known: bool,
    later: Option<Damage>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            head: Head {
                segment: 0,
                seq: 0,
                hash: GENESIS,
                record: None,
                offset: 0,
                headed: true,
            },
            lines: 0,
            torn: None,
            damage: None,
            ends: Vec::new(),
            beginning_known: true,
            later: None,
        }
    }
}

impl Walk {
    /// Walks from where the last walk ended to the end, or to the first fault, after which it does not go on.
    ///
    /// # Errors
    /// When a file cannot be read at all.
    pub fn go_on(
        &mut self,
        layout: &Layout,
        visit: impl FnMut(&Line<'_>) -> Result<(), String>,
    ) -> Result<(), AuditError> {
        self.go_on_with(layout, &mut OneByOne::default(), visit)
    }

    /// Like [`Self::go_on`], with lines from elsewhere.
    pub fn go_on_with(
        &mut self,
        layout: &Layout,
        lines: &mut dyn Lines,
        mut visit: impl FnMut(&Line<'_>) -> Result<(), String>,
    ) -> Result<(), AuditError> {
        if self.damage.is_some() {
            return Ok(());
        }
        let numbers = match layout.segments() {
            Ok(numbers) => numbers,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(AuditError::io(layout.log(), "read", e)),
        };
        let last = numbers.last().copied();
        let mut numbers = numbers.as_slice();
        if self.head.segment == 0 {
            self.begin(layout, numbers)?;
        } else {
            let here = numbers.iter().position(|n| *n == self.head.segment);
            let Some(here) = here else {
                self.missing(self.head.segment, "this segment is missing");
                return Ok(());
            };
            numbers = &numbers[here + 1..];
            self.torn = None;
            self.segment(layout, Some(self.head.segment) == last, lines, &mut visit)?;
        }
        for number in numbers {
            if self.damage.is_some() {
                break;
            }
            if *number != self.head.segment + 1 {
                self.missing(self.head.segment + 1, "this segment is missing");
                break;
            }
            self.head.segment = *number;
            self.head.offset = 0;
            self.head.headed = false;
            self.lines = 0;
            self.segment(layout, Some(*number) == last, lines, &mut visit)?;
        }
        if !self.beginning_known && self.damage.is_none() {
            self.damage = Some(Damage {
                file: format!("log/{}", segment_name(1)),
                line: None,
                seq: Some(1),
                what: "this segment is missing, and no record says that it was removed".to_owned(),
            });
        }
        Ok(())
    }

    /// Looks for the beginning of the log.
    fn begin(&mut self, layout: &Layout, numbers: &[u64]) -> Result<(), AuditError> {
        if numbers.is_empty()
            && let Some(trace) =
                traces::of(layout).map_err(|e| AuditError::io(&layout.state, "read", e))?
        {
            let what = format!("this segment is missing, and {trace}: there was a log");
            self.missing(1, &what);
        }
        if let Some(first @ 2..) = numbers.first().copied() {
            // The first header states what preceded it; a later `pruned` record must confirm that.
            self.head.segment = first - 1;
            self.beginning_known = false;
        }
        Ok(())
    }

    /// What was found so far.
    pub fn scanned(&self) -> Scanned {
        Scanned {
            head: self.head,
            torn: self.torn,
            damage: self.damage.clone(),
            removed: self.ends.first().copied().filter(|_| self.beginning_known),
            beginning_known: self.beginning_known,
            later: self.later.clone(),
        }
    }

    fn missing(&mut self, segment: u64, what: &str) {
        self.damage = Some(Damage {
            file: format!("log/{}", segment_name(segment)),
            line: None,
            seq: Some(self.head.seq + 1),
            what: what.to_owned(),
        });
    }

    /// Reads the rest of the segment of `head`.
    fn segment(
        &mut self,
        layout: &Layout,
        last: bool,
        lines: &mut dyn Lines,
        visit: &mut impl FnMut(&Line<'_>) -> Result<(), String>,
    ) -> Result<(), AuditError> {
        let path = layout.segment(self.head.segment);
        let unreadable = |e| AuditError::io(&path, "read", e);
        let file = format!("log/{}", segment_name(self.head.segment));
        lines.begin(&path, self.head.offset).map_err(unreadable)?;
        for line in self.lines + 1.. {
            let Some(lined) = lines.next().map_err(unreadable)? else {
                // A crash can leave a last segment without its header.
                if !self.head.headed && last {
                    self.torn = Some(0);
                } else if !self.head.headed {
                    self.damage(&file, None, "it is empty", None);
                }
                return Ok(());
            };
            let read = lined.bytes.len();
            if read > LINE_MAX {
                self.damage(&file, Some(line), "it is longer than any record", None);
                return Ok(());
            }
            let Some(bytes) = lined.bytes.strip_suffix(b"\n") else {
                if last {
                    self.torn = Some(read as u64);
                } else {
                    self.damage(
                        &file,
                        Some(line),
                        "its end is missing",
                        claimed_seq(lined.bytes),
                    );
                }
                return Ok(());
            };
            let sealed = lined.sealed.map_err(str::to_owned);
            let taken = sealed
                .and_then(|sealed| self.line(&file, line, bytes, (sealed, lined.ahead), visit));
            if let Err(what) = taken {
                self.damage(&file, Some(line), &what, claimed_seq(bytes));
                return Ok(());
            }
            self.head.offset += read as u64;
            self.lines = line;
        }
        Ok(())
    }

    fn line(
        &mut self,
        file: &str,
        number: u64,
        bytes: &[u8],
        (sealed, ahead): (Sealed, Ahead<'_>),
        visit: &mut impl FnMut(&Line<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        if sealed.v > VERSION && self.later.is_none() {
            self.later = Some(Damage {
                file: file.to_owned(),
                line: Some(number),
                seq: claimed_seq(bytes),
                what: format!("it is of version {} of the format", sealed.v),
            });
        }
        if let (1, LineRole::Header { first_seq, .. }) = (number, sealed.place)
            && (!self.beginning_known || !self.ends.is_empty())
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
            if !self.beginning_known {
                self.removal(bytes)?;
            }
            visit(&Line {
                file,
                number,
                offset: self.head.offset,
                seq,
                v: sealed.v,
                boundary: Boundary {
                    segment: self.head.segment,
                    seq,
                    hash: sealed.hash,
                },
                bytes,
                ahead,
            })?;
            self.head.seq = seq;
            self.head.record = Some(sealed.hash);
        } else {
            self.head.headed = true;
        }
        self.head.hash = sealed.hash;
        Ok(())
    }

    /// Checks whether this record accounts for the missing segments. It names the end of a segment, but maybe
    /// not of the last missing one: a crash can interrupt the removal.
    fn removal(&mut self, bytes: &[u8]) -> Result<(), String> {
        const KIND: &[u8] = b"\"kind\":\"pruned\"";
        if memmem::find(bytes, KIND).is_none() {
            return Ok(());
        }
        let said: Removal =
            serde_json::from_slice(bytes).map_err(|e| format!("it is not a record: {e}"))?;
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
            return Err("it names another end of the removed segments".to_owned());
        }
        self.beginning_known = true;
        Ok(())
    }

    fn damage(&mut self, file: &str, line: Option<u64>, what: &str, claimed: Option<u64>) {
        self.damage = Some(Damage {
            file: file.to_owned(),
            line,
            seq: Some(claimed.unwrap_or(self.head.seq + 1)),
            // `what` may quote the line, which can be hostile.
            what: visible(&what.chars().take(300).collect::<String>()).into_owned(),
        });
    }
}
