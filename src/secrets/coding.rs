//! Contents as text: UTF-8, UTF-16, and bytes of which each is a character.

use std::borrow::Cow;

/// How a content has its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Utf8,
    Utf16 {
        big: bool,
    },
    /// ISO 8859-1, and whatever else has ASCII in one byte each.
    Bytes,
}

impl Coding {
    /// The text of a content; `None` if it is binary, and replacing in it would destroy it.
    pub fn read(content: &[u8]) -> Option<(Self, Cow<'_, str>)> {
        if let Some(big) = big_of_utf16(content)
            && let Some(text) = utf16(content, big)
        {
            return Some((Self::Utf16 { big }, text.into()));
        }
        if let Ok(text) = std::str::from_utf8(content) {
            return Some((Self::Utf8, text.into()));
        }
        let text = || content.iter().map(|b| char::from(*b)).collect::<String>();
        (!content.contains(&0)).then(|| (Self::Bytes, text().into()))
    }

    /// The content of a text.
    pub fn write(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf16 { big: false } => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16 { big: true } => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Bytes => text
                .chars()
                .map(|c| u8::try_from(c).unwrap_or(b'?'))
                .collect(),
        }
    }
}

/// Whether it is UTF-16 and the more significant byte comes first: by its mark, else by the zeros of ASCII.
fn big_of_utf16(content: &[u8]) -> Option<bool> {
    match content {
        [0xff, 0xfe, ..] => return Some(false),
        [0xfe, 0xff, ..] => return Some(true),
        _ if content.len() < 8 || content.len() % 2 == 1 => return None,
        _ => {}
    }
    let zeros = |from: usize| {
        content
            .iter()
            .skip(from)
            .step_by(2)
            .filter(|b| **b == 0)
            .count()
    };
    let (first, second, half) = (zeros(0), zeros(1), content.len() / 2);
    match (first == 0, second == 0) {
        (true, false) if second * 2 > half => Some(false),
        (false, true) if first * 2 > half => Some(true),
        _ => None,
    }
}

fn utf16(content: &[u8], big: bool) -> Option<String> {
    let pairs = content.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let units = pairs.map(|pair| match (pair, big) {
        ([first, second], true) => u16::from_be_bytes([*first, *second]),
        ([first, second], false) => u16::from_le_bytes([*first, *second]),
        _ => 0,
    });
    char::decode_utf16(units).collect::<Result<_, _>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_read_and_written_as_it_was() {
        let text = "n\u{e4}me,a\u{1f511}\nx,1\n";
        let coded = |coding: Coding, text: &str| coding.write(text);
        let (little, big) = (Coding::Utf16 { big: false }, Coding::Utf16 { big: true });
        let marked = format!("\u{feff}{text}");
        for (content, coding, text) in [
            (coded(Coding::Utf8, text), Coding::Utf8, text),
            (coded(little, text), little, text),
            (coded(big, text), big, text),
            (coded(little, &marked), little, marked.as_str()),
            (coded(big, &marked), big, marked.as_str()),
            (b"n\xe4me".to_vec(), Coding::Bytes, "n\u{e4}me"),
            (Vec::new(), Coding::Utf8, ""),
        ] {
            let read = Coding::read(&content).unwrap();
            assert_eq!((read.0, read.1.as_ref()), (coding, text), "{content:?}");
            assert_eq!(coding.write(text), content);
        }
    }

    #[test]
    fn what_is_binary_is_no_text() {
        for content in [
            &b"PK\x03\x04\x14\0\0\0\x08\0\xff"[..],
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            b"\xff\xfe\0\xd8\0",
        ] {
            assert_eq!(Coding::read(content), None);
        }
    }
}
