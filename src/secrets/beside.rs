//! Texts that stand beside each other: what one of them says is a secret is one in the others.

use std::borrow::Cow;

use super::repeats::Repeats;
use super::{Counts, Secrets, joined};

/// The secrets of some texts of one proposal.
pub struct Beside<'s> {
    secrets: &'s Secrets,
    repeats: Repeats,
}

impl<'s> Beside<'s> {
    pub fn of<'t>(secrets: &'s Secrets, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut repeats = Repeats::default();
        for text in texts {
            repeats.add(text, &secrets.find(text));
        }
        Self { secrets, repeats }
    }

    /// The text without what any of them says.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = [self.secrets.find(text), self.repeats.begun(text)].concat();
        Secrets::replaced(text, &joined(found), &mut Counts::new())
    }
}
