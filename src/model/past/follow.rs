//! Two memories of one log: of its beginning, and of what was written while that was read.

use super::{PROPOSALS, Past, shape_keys};
use crate::model::VerdictKind;

impl Past {
    /// Takes in the proposals of another memory as newer ones.
    pub fn follow(&mut self, newer: Self) {
        for mut earlier in newer.all {
            if self.numbers.contains_key(&earlier.id) {
                continue;
            }
            if self.all.len() >= self.most.unwrap_or(PROPOSALS) {
                self.forget_oldest();
            }
            let number = self.first + self.all.len() as u32;
            let is_blocked = earlier.verdict == VerdictKind::Blocked;
            for link in &mut earlier.links {
                link.older = self.add_link(link.key, number, is_blocked);
            }
            for key in earlier.shape.iter().flat_map(shape_keys) {
                self.add_shape(key, number, None);
            }
            earlier.given = self.given(*earlier.given);
            earlier.agent = self.name(&earlier.agent);
            earlier.profile = self.name(&earlier.profile);
            earlier.title = earlier.title.as_deref().map(|title| self.name(title));
            earlier.data = earlier.data.iter().map(|name| self.name(name)).collect();
            let decided = earlier.decided.take();
            self.numbers.insert(earlier.id, number);
            self.push(earlier);
            if let Some(decided) = decided {
                self.decide(number, decided);
            }
        }
    }
}
