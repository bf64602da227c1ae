//! Lines of the log as the index names them: read again and hashed again before anything of them is shown.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::super::error::Damage;
use super::super::layout::{Layout, open_regular, segment_name};
use super::super::line::{GENESIS, LINE_MAX, LineRole, Record, Sealed, VERSION, unseal};
use super::super::lines::Ahead;
use super::super::scan::{Boundary, Line};
use super::IndexError;

/// Where a line stands, and how its hash begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::audit) struct Place {
    pub seq: i64,
    pub segment: i64,
    pub line: i64,
    pub offset: i64,
    pub length: i64,
    pub hash: [u8; 8],
}

/// A line, the number of its proposal, and its kind if it has none.
pub(super) type Owned = (Place, Option<i64>, Option<String>);

impl Place {
    const FIELDS: &'static str = "seq, segment, line, offset, length, hash";

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            segment: row.get(1)?,
            line: row.get(2)?,
            offset: row.get(3)?,
            length: row.get(4)?,
            hash: row.get(5)?,
        })
    }

    /// The lines of a proposal, the oldest first.
    pub fn all_of(connection: &Connection, n: i64) -> Result<Vec<Self>, IndexError> {
        let fields = Self::FIELDS;
        let mut found = connection.prepare_cached(&format!(
            "SELECT {fields} FROM records WHERE n = ?1 ORDER BY seq"
        ))?;
        let rows = found.query_map([n], Self::of)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The line of a record, whose it is, and its kind if it is nobody's.
    pub fn owned(connection: &Connection, seq: i64) -> Result<Option<Owned>, IndexError> {
        let fields = Self::FIELDS;
        let mut found = connection.prepare_cached(&format!(
            "SELECT {fields}, n, kind FROM records WHERE seq = ?1"
        ))?;
        let row = |row: &Row<'_>| Ok((Self::of(row)?, row.get(6)?, row.get(7)?));
        Ok(found.query_one([seq], row).optional()?)
    }

    /// The lines after this one, the oldest first.
    pub fn all_after(
        connection: &Connection,
        seq: i64,
        most: usize,
    ) -> Result<Vec<Self>, IndexError> {
        let fields = Self::FIELDS;
        let mut found = connection.prepare_cached(&format!(
            "SELECT {fields} FROM records WHERE seq > ?1 ORDER BY seq LIMIT ?2"
        ))?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = found.query_map([seq, most], Self::of)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The lines of these kinds that belong to no proposal, the newest first.
    pub fn all_apart(connection: &Connection, kinds: [&str; 2]) -> Result<Vec<Self>, IndexError> {
        let fields = Self::FIELDS;
        let mut found = connection.prepare_cached(&format!(
            "SELECT {fields} FROM records WHERE n IS NULL AND kind IN (?1, ?2) ORDER BY seq DESC"
        ))?;
        let rows = found.query_map(kinds, Self::of)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The last line of this kind before a record.
    pub fn last_apart(
        connection: &Connection,
        kind: &str,
        seq: i64,
    ) -> Result<Option<Self>, IndexError> {
        let fields = Self::FIELDS;
        let mut found = connection.prepare_cached(&format!(
            "SELECT {fields} FROM records WHERE n IS NULL AND kind = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT 1"
        ))?;
        let row = |row: &Row<'_>| Self::of(row);
        Ok(found
            .query_one(rusqlite::params![kind, seq], row)
            .optional()?)
    }

    /// The line with these bytes, which stands here.
    pub fn line<'a>(&self, file: &'a str, bytes: &'a [u8]) -> Line<'a> {
        let seq = self.seq.cast_unsigned();
        let segment = self.segment.cast_unsigned();
        let (v, hash) = unseal(bytes).map_or((VERSION, GENESIS), |sealed| (sealed.v, sealed.hash));
        Line {
            file,
            number: self.line.cast_unsigned(),
            offset: self.offset.cast_unsigned(),
            seq,
            v,
            boundary: Boundary { segment, seq, hash },
            bytes,
            ahead: Ahead::default(),
        }
    }

    /// Whether the line with these bytes says that it is this record.
    pub fn is_of(&self, bytes: &[u8]) -> bool {
        let seq = |sealed: Sealed| match sealed.place {
            LineRole::Record { seq, .. } => Some(seq),
            LineRole::Header { .. } => None,
        };
        unseal(bytes).is_ok_and(|sealed| seq(sealed) == Some(self.seq.cast_unsigned()))
    }

    pub fn file(&self) -> String {
        format!("log/{}", segment_name(self.segment.cast_unsigned()))
    }

    fn changed(&self, what: &str) -> IndexError {
        IndexError::Changed(Damage {
            file: self.file(),
            line: Some(self.line.cast_unsigned()),
            seq: Some(self.seq.cast_unsigned()),
            what: format!("{what} since the log was last read from its beginning"),
        })
    }
}

/// Reads lines. Those that are only in the journal are kept here.
#[derive(Debug, Default)]
pub(super) struct Kept {
    from_journal: Option<HashMap<i64, Vec<u8>>>,
    open: Option<(i64, File)>,
}

impl Kept {
    /// The lines that follow are in the journal.
    pub fn journal_follows(&mut self) {
        self.from_journal = Some(HashMap::new());
    }

    pub fn place_of(&mut self, line: &Line<'_>) -> Result<Place, IndexError> {
        let seq = line.seq.cast_signed();
        if let Some(kept) = &mut self.from_journal {
            kept.insert(seq, line.bytes.to_vec());
        }
        let hash = line.boundary.hash;
        let (hash, _) = hash.as_bytes().split_first_chunk().ok_or(IndexError::Odd)?;
        Ok(Place {
            seq,
            segment: line.boundary.segment.cast_signed(),
            line: line.number.cast_signed(),
            offset: line.offset.cast_signed(),
            length: i64::try_from(line.bytes.len()).map_err(|_| IndexError::Odd)?,
            hash: *hash,
        })
    }

    /// The bytes of a line, hashed again.
    ///
    /// # Errors
    /// [`IndexError::Changed`] when they are not the ones that were read.
    pub fn bytes(&mut self, layout: &Layout, place: &Place) -> Result<Vec<u8>, IndexError> {
        let kept = self.from_journal.as_ref();
        if let Some(line) = kept.and_then(|kept| kept.get(&place.seq)) {
            return Ok(line.clone());
        }
        let length = usize::try_from(place.length)
            .ok()
            .filter(|n| *n <= LINE_MAX);
        let mut bytes = vec![0; length.ok_or(IndexError::Odd)?];
        if self.open.as_ref().is_none_or(|(n, _)| *n != place.segment) {
            let path = layout.segment(place.segment.cast_unsigned());
            self.open = Some((place.segment, open_regular(&path)?));
        }
        let Some((_, file)) = &self.open else {
            return Err(IndexError::Odd);
        };
        let read = file.read_exact_at(&mut bytes, place.offset.cast_unsigned());
        read.map_err(|_| place.changed("it was cut off"))?;
        let sealed =
            unseal(&bytes).map_err(|what| place.changed(&format!("{what}: it changed")))?;
        match sealed.hash.as_bytes().starts_with(&place.hash) {
            true => Ok(bytes),
            false => Err(place.changed("it changed")),
        }
    }

    /// The record of a line; `None` if it is of a later version.
    pub fn record(&mut self, layout: &Layout, place: &Place) -> Result<Option<Record>, IndexError> {
        let bytes = self.bytes(layout, place)?;
        if unseal(&bytes).is_ok_and(|sealed| sealed.v > VERSION) {
            return Ok(None);
        }
        let record = Record::parse(&bytes);
        Ok(Some(record.map_err(|_| IndexError::Odd)?))
    }
}
