//! Texts as words: what stands between two characters that are no letter, digit or underscore.

/// Words that stand one after the other. `*` at the end of the last one stands for any rest of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    words: Vec<String>,
    begins: bool,
}

impl Words {
    /// `None` if the text has no word.
    pub fn of(text: &str) -> Option<Self> {
        let begins = text.ends_with('*') && !text.ends_with(" *");
        let words: Vec<String> = split(text).collect();
        (!words.is_empty()).then_some(Self { words, begins })
    }

    pub fn all(&self) -> &[String] {
        &self.words
    }

    /// Whether the last one may go on.
    pub fn begins(&self) -> bool {
        self.begins
    }

    /// Whether they stand in the text.
    pub fn stand_in(&self, text: &str) -> bool {
        let there: Vec<String> = split(text).collect();
        there.windows(self.words.len()).any(|some| self.are(some))
    }

    fn are(&self, some: &[String]) -> bool {
        let last = self.words.len() - 1;
        self.words
            .iter()
            .zip(some)
            .enumerate()
            .all(|(n, (asked, word))| {
                asked == word || self.begins && n == last && word.starts_with(asked.as_str())
            })
    }
}

/// The words of a text, in lower case. Characters beyond ASCII are parts of words.
fn split(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
