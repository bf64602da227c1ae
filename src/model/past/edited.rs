//! A person's edit gives a waiting proposal another code. What ran counts in the end: an edit that was not
//! granted gives way to what was proposed.

use super::{Digest, Key, Link, NONE, Of, Past, Shape, shape_keys};

impl Past {
    /// A person gave a waiting proposal another code.
    pub(super) fn recode(&mut self, number: u32, code: Digest, shape: Option<Shape>) {
        let index = (number - self.first) as usize;
        let Some(earlier) = self.all.get_mut(index) else {
            return;
        };
        if earlier.code == code || earlier.decided.is_some() {
            return;
        }
        let old = (earlier.code, earlier.shape.take());
        earlier.code = code;
        for key in old.1.iter().flat_map(shape_keys) {
            self.uncount(key);
        }
        let (from, to) = (Of::Code(old.0).key(), Of::Code(code).key());
        self.unlink(from, number);
        self.link(from, to, number);
        if let Some(earlier) = self.all.get_mut(index) {
            earlier.proposed.get_or_insert_with(|| Box::new(old));
        }
        if let Some(shape) = shape {
            self.shape_of(number, shape);
        }
    }

    /// A proposal that ended without a grant has its proposed code again.
    pub(super) fn restore(&mut self, number: u32) {
        let earlier = self.all.get_mut((number - self.first) as usize);
        if let Some((code, shape)) = earlier.and_then(|e| e.proposed.as_deref().copied()) {
            self.recode(number, code, shape);
        }
    }

    /// Takes a proposal out of the chain of this key; its link stays where it is.
    fn unlink(&mut self, key: Key, number: u32) {
        let older = self.link_of(number, key).map_or(NONE, |link| link.older);
        match self.newer(key, number) {
            Some(newer) => self.set_older(newer, key, older),
            None => self.set_newest(key, older),
        }
        self.uncount(key);
    }

    /// Puts a proposal into the chain of the key `to`, which stays sorted; its link was for `from`.
    fn link(&mut self, from: Key, to: Key, number: u32) {
        let newer = self.newer(to, number);
        let older = match newer {
            None => self.add_link(to, number, false),
            Some(newer) => {
                self.add_within(to);
                let older = self.link_of(newer, to).map_or(NONE, |link| link.older);
                self.set_older(newer, to, number);
                older
            }
        };
        let earlier = self.all.get_mut((number - self.first) as usize);
        let links = earlier.into_iter().flat_map(|e| e.links.iter_mut());
        for link in links.filter(|link| link.key == from) {
            *link = Link { key: to, older };
        }
    }

    /// The proposal before this one in the chain of a key, which is the next newer one.
    fn newer(&self, key: Key, number: u32) -> Option<u32> {
        self.walk(key).take_while(|at| *at > number).last()
    }

    pub(super) fn link_of(&self, number: u32, key: Key) -> Option<&Link> {
        self.get(number)?.links.iter().find(|link| link.key == key)
    }

    fn set_older(&mut self, number: u32, key: Key, older: u32) {
        let earlier = self.all.get_mut((number - self.first) as usize);
        let links = earlier.into_iter().flat_map(|e| e.links.iter_mut());
        for link in links.filter(|link| link.key == key) {
            link.older = older;
        }
    }
}
