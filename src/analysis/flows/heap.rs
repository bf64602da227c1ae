//! What was put into values under any name.

use super::Pass;
use super::value::{ANY, OUTSIDE, SINGLE, Value, WHOLE};

impl<'a> Pass<'a> {
    /// Notes that this was put into what was made at the sites.
    pub(super) fn put(&mut self, sites: &[u32], value: &Value<'a>) {
        let single = value.has(SINGLE) || !self.counted.is_empty() || self.choices.ends();
        let mut counted = self.counted(value.clone());
        if !single {
            counted = counted.without(SINGLE);
        }
        let value = &counted;
        if value.is_void() && value.texts.is_none() {
            return;
        }
        if sites.contains(&OUTSIDE) && !value.is_nothing() {
            self.loses_sight(self.here);
        }
        for site in &self.viewed(sites) {
            match self.heap.get_mut(site) {
                Some(known) => {
                    let grew = known.join(value);
                    self.changed |= grew;
                }
                None => {
                    self.changed |= !value.is_void();
                    self.heap.insert(*site, value.clone());
                }
            }
        }
    }

    /// The sites, and those that they look at.
    fn viewed(&self, sites: &[u32]) -> Vec<u32> {
        let mut all = sites.to_vec();
        let mut at = 0;
        while let Some(site) = all.get(at) {
            let more = self.views.get(site).into_iter().flatten();
            let more: Vec<u32> = more.filter(|s| !all.contains(s)).copied().collect();
            all.extend(more);
            at += 1;
        }
        all
    }

    /// Notes that some rows of what was made at the sites have other values.
    pub(super) fn thins(&mut self, sites: &[u32]) {
        for site in self.viewed(sites) {
            self.changed |= self.thinned.insert(site);
        }
    }

    /// The value with what was put into it under any name.
    pub(super) fn whole(&self, value: &Value<'a>) -> Value<'a> {
        let mut out = value.clone();
        if !self.thinned.is_empty() && out.sites.iter().any(|s| self.thinned.contains(s)) {
            out = out.without(WHOLE);
        }
        if value.sites.is_empty() && value.inner.is_empty() || self.heap.is_empty() {
            return out;
        }
        let mut seen: Vec<u32> = Vec::new();
        let mut open = value.reached();
        open.push(ANY);
        while let Some(site) = open.pop() {
            if seen.contains(&site) {
                continue;
            }
            seen.push(site);
            if site == ANY && value.sites.contains(&ANY) {
                self.heap.values().for_each(|v| {
                    out.join(v);
                });
            } else if let Some(put) = self.heap.get(&site) {
                out.join(put);
                open.extend(put.reached().iter().filter(|s| !seen.contains(s)));
            }
            if seen.len() > 96 {
                return out.and(&self.everything());
            }
        }
        // What was put into it has sites of its own.
        let mut held = std::mem::replace(&mut out.sites, value.sites.clone());
        held.retain(|site| !value.sites.contains(site));
        out.join(&Value {
            inner: held,
            flags: out.flags,
            texts: out.texts.clone(),
            ..Value::default()
        });
        out
    }
}
