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
            for link in &mut earlier.links {
                let head = self.heads.entry(link.key).or_default();
                head.count += 1;
                head.blocked += u32::from(earlier.verdict == VerdictKind::Blocked);
                link.older = std::mem::replace(&mut head.newest, number);
            }
            for key in earlier.shape.iter().flat_map(shape_keys) {
                self.heads.entry(key).or_default().count += 1;
            }
            earlier.agent = self.name(&earlier.agent);
            earlier.profile = self.name(&earlier.profile);
            earlier.title = earlier.title.as_deref().map(|title| self.name(title));
            earlier.data = earlier.data.iter().map(|name| self.name(name)).collect();
            let decided = earlier.decided.take();
            self.numbers.insert(earlier.id, number);
            self.all.push_back(earlier);
            if let Some(decided) = decided {
                self.decide(number, decided);
            }
        }
    }
}
