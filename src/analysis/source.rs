//! Positions: converts byte offsets to lines and columns (Unicode scalar values), both starting at
//! 1.

/// The start of each line of a text. Lines end at LF, as on the screen. Python also ends a line at
/// a lone CR, which is a finding of its own.
pub struct Source<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self { text, starts }
    }

    /// The line and column of a byte offset. An offset past the end, or inside a character, counts
    /// as the nearest valid one before it.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).max(1) - 1;
        let start = self.starts.get(line).copied().unwrap_or(0);
        let column = self
            .text
            .get(start..offset)
            .map_or(0, |s| s.chars().count());
        (number(line + 1), number(column + 1))
    }

    pub fn line(&self, offset: usize) -> u32 {
        number(self.starts.partition_point(|start| *start <= offset).max(1))
    }

    /// The line that contains a byte offset.
    pub fn line_text(&self, offset: usize) -> &'a str {
        let after = self.starts.partition_point(|start| *start <= offset);
        let start = after.checked_sub(1).and_then(|line| self.starts.get(line));
        let end = self.starts.get(after).copied().unwrap_or(self.text.len());
        let line = self.text.get(start.copied().unwrap_or(0)..end);
        line.unwrap_or("").trim_end_matches('\n')
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_scalar_values_from_one() {
        let s = Source::new("é = 1\nβγ.x\n");
        assert_eq!(s.position(0), (1, 1));
        assert_eq!(s.position("é".len()), (1, 2));
        assert_eq!(s.position("é = 1\nβγ".len()), (2, 3));
        assert_eq!(s.position(1), (1, 1), "inside a character");
        assert_eq!(s.position(9999), (3, 1));
    }

    #[test]
    fn a_line_is_found_by_any_of_its_bytes() {
        let s = Source::new("é = 1\n\nβγ.x");
        for (offset, line) in [
            (0, "é = 1"),
            (1, "é = 1"),
            (6, "é = 1"),
            (7, ""),
            (9, "βγ.x"),
            (99, "βγ.x"),
        ] {
            assert_eq!(s.line_text(offset), line, "{offset}");
        }
    }
}
