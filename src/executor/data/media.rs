//! Detects the kind of a file from its content.
//!
//! The name is chosen by the snippet, so it only selects among kinds that fit the content.

use serde::de::IgnoredAny;

use crate::model::DataFormat;

/// The kind of bytes that match no other kind.
pub const BINARY: &str = "application/octet-stream";
pub const PLAIN: &str = "text/plain";
pub const CSV: &str = "text/csv";
pub const TSV: &str = "text/tab-separated-values";
pub const JSON: &str = "application/json";
pub const JSONL: &str = "application/jsonl";
pub const PARQUET: &str = "application/vnd.apache.parquet";
pub const ARROW_FILE: &str = "application/vnd.apache.arrow.file";
pub const ARROW_STREAM: &str = "application/vnd.apache.arrow.stream";

/// The first bytes of each kind of file.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"ARROW1\0\0", ARROW_FILE),
    (b"\x1f\x8b", "application/gzip"),
];

/// Number of lines that are checked for a table.
const LINES: usize = 100;

/// The media type of a file with this content and this name.
pub fn of(name: &str, content: &[u8]) -> &'static str {
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| content.starts_with(magic)) {
        return kind;
    }
    if content.starts_with(b"PAR1") && content.ends_with(b"PAR1") && content.len() >= 12 {
        return PARQUET;
    }
    if content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    if content.starts_with(b"PK\x03\x04") {
        let workbook = content
            .get(..4096.min(content.len()))
            .is_some_and(|head| holds(head, b"xl/") || holds(head, b"[Content_Types].xml"));
        return if workbook {
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        } else {
            "application/zip"
        };
    }
    // An encapsulated message starts with a continuation mark and a length that is inside the file.
    if content.starts_with(b"\xff\xff\xff\xff")
        && let Some(Ok(length)) = content.get(4..8).map(<[u8; 4]>::try_from)
        && (1..content.len() as u64).contains(&u64::from(u32::from_le_bytes(length)))
    {
        return ARROW_STREAM;
    }
    std::str::from_utf8(content).map_or(BINARY, |text| of_text(name, text))
}

fn of_text(name: &str, text: &str) -> &'static str {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let extension = name.rsplit_once('.').map(|(_, ext)| ext.to_lowercase());
    let extension = extension.as_deref().unwrap_or("");
    let begins = |tag: &str| {
        start
            .get(..tag.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(tag))
    };
    // Scripts in a page may have control characters in their tables.
    if !text.contains('\0') && (begins("<!doctype html") || begins("<html")) {
        return "text/html";
    }
    // Other text files contain no control characters; a few binary formats without a known magic
    // do.
    if text.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b'))
    {
        return BINARY;
    }
    if begins("<svg") || (begins("<?xml") && start.contains("<svg")) {
        return "image/svg+xml";
    }
    if extension == "jsonl" && !start.is_empty() && is_jsonl(start) {
        return JSONL;
    }
    if start.starts_with(['{', '[']) && is_json(start) {
        return JSON;
    }
    // Numbers and words are JSON too, and prose has commas, so the name must agree as well.
    match extension {
        "json" if is_json(start) => JSON,
        "csv" if is_table(text, b',') => CSV,
        "tsv" if is_table(text, b'\t') => TSV,
        _ => PLAIN,
    }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn is_jsonl(text: &str) -> bool {
    text.split('\n')
        .filter(|line| !line.trim().is_empty())
        .all(is_json)
}

/// Whether the first lines are records with the same number of fields.
fn is_table(text: &str, delimiter: u8) -> bool {
    let mut records = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .from_reader(text.as_bytes())
        .into_byte_records();
    let first = records.next();
    first.is_some_and(|record| record.is_ok()) && records.take(LINES).all(|record| record.is_ok())
}

/// The format in which a snippet receives a file of this kind.
pub fn format_of(kind: &str) -> DataFormat {
    match kind {
        CSV => DataFormat::Csv,
        TSV => DataFormat::Tsv,
        JSON => DataFormat::Json,
        JSONL => DataFormat::Jsonl,
        PARQUET => DataFormat::Parquet,
        ARROW_FILE | ARROW_STREAM => DataFormat::Arrow,
        text if is_text(text) => DataFormat::Text,
        _ => DataFormat::Bytes,
    }
}

/// Whether a person can read the file as it is.
pub fn is_text(kind: &str) -> bool {
    kind.starts_with("text/") || matches!(kind, JSON | JSONL | "image/svg+xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_decides_and_the_name_chooses_among_fitting_kinds() {
        let parquet = [b"PAR1".as_slice(), &[0; 8], b"PAR1"].concat();
        let stream = [b"\xff\xff\xff\xff\x08\0\0\0".as_slice(), &[0; 16]].concat();
        let rows: &[(&str, &[u8], &str)] = &[
            ("a.txt", b"\x89PNG\r\n\x1a\nrest", "image/png"),
            ("a.png", b"hello", PLAIN),
            ("a.png", b"<svg xmlns='x'/>", "image/svg+xml"),
            ("a", b"<?xml version='1.0'?>\n<svg/>", "image/svg+xml"),
            ("a.xml", b"<?xml version='1.0'?>\n<a/>", PLAIN),
            ("a", b"\xff\xd8\xff\xe0", "image/jpeg"),
            ("a", b"%PDF-1.4", "application/pdf"),
            ("a.csv", &parquet, PARQUET),
            ("a", b"PAR1", PLAIN),
            ("a", b"ARROW1\0\0", ARROW_FILE),
            ("a", &stream, ARROW_STREAM),
            ("a", b"\xff\xff\xff\xff", BINARY),
            ("a.csv", b"a,b\n1,2\n", CSV),
            ("a.csv", b"a\n1\n", CSV),
            ("a.csv", b"a,b\n1,2,3\n", PLAIN),
            ("a.csv", b"", PLAIN),
            ("a.txt", b"a,b\n1,2\n", PLAIN),
            ("a.tsv", b"a\tb\n1\t2\n", TSV),
            ("a", b" {\"a\": [1]}\n", JSON),
            ("a", b"{\"a\": ", PLAIN),
            ("a", b"1", PLAIN),
            ("a.json", b"1", JSON),
            ("a.jsonl", b"{\"a\":1}\n{\"a\":2}\n", JSONL),
            ("a.jsonl", b"{\"a\":1}\nno\n", PLAIN),
            ("a.html", b"<!DOCTYPE html><p>", "text/html"),
            ("a.html", b"<html>\x7f\x02</html>", "text/html"),
            ("a.html", b"<html>\0</html>", BINARY),
            ("a.txt", b"a\0b", BINARY),
            ("a.txt", b"\xff\xfe", BINARY),
            ("a", b"", PLAIN),
        ];
        for (name, content, expected) in rows {
            assert_eq!(of(name, content), *expected, "{name} {content:?}");
        }
        assert!(is_text(CSV) && is_text(JSON) && !is_text(PARQUET));
    }

    #[test]
    fn deeply_nested_json_is_text_and_not_a_crash() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(of("a.json", deep.as_bytes()), PLAIN);
    }
}
