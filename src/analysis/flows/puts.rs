//! What calls put into what they are given, and into their objects.

use super::Pass;
use super::functions::Given;
use super::value::{BOUND, CHANGER, LIST, PLAIN, SINGLE, TABLE, Value};
use super::words::TEXTS;

/// Methods of tables whose results may be views of them.
pub(super) const VIEWING: &[&str] = &[
    "get",
    "infer_objects",
    "items",
    "pop",
    "ravel",
    "rename",
    "reshape",
    "set_axis",
    "squeeze",
    "swapaxes",
    "to_numpy",
    "transpose",
    "view",
    "xs",
];
/// Methods of containers: they leave alone what is in them.
const CONTAINING: &[&str] = &[
    "add",
    "append",
    "appendleft",
    "count",
    "discard",
    "encode",
    "extend",
    "extendleft",
    "format",
    "get",
    "index",
    "insert",
    "join",
    "keys",
    "put",
    "remove",
    "setdefault",
    "split",
    "update",
    "write",
    "writelines",
    "writerow",
    "writerows",
];

/// Methods that take values out of what they are called on, or write others over them.
const MUTATING: &[&str] = &[
    "clear",
    "fill",
    "itemset",
    "partition",
    "pop",
    "popleft",
    "put",
    "remove",
    "resize",
    "setfield",
    "sort",
];

/// Whether a method of this name leaves fewer or other values.
pub(super) fn mutates(name: &str) -> bool {
    MUTATING.contains(&name)
}

/// Whether a method of this name only puts something into a container.
pub(super) fn contains(name: &str) -> bool {
    CONTAINING.contains(&name)
}

impl<'a> Pass<'a> {
    /// Any argument may be put into any other one.
    pub(super) fn change(&mut self, given: &Given<'a>, all: &Value<'a>) {
        let all = &self.counted(all.clone());
        let held = all.held().without(PLAIN);
        let each = given
            .positional
            .iter()
            .chain(given.keywords.iter().map(|(_, v)| v));
        let sites = each.filter(|v| !v.covers(all)).flat_map(|v| v.reached());
        self.put(&sites.collect::<Vec<u32>>(), &held);
    }

    /// Methods that are given may keep the rest in their objects, and functions in whatever they are given.
    pub(super) fn keep_bound(&mut self, given: &Given<'a>, all: &Value<'a>) {
        let held = self.counted(all.held().without(PLAIN));
        let each = given
            .positional
            .iter()
            .chain(given.keywords.iter().map(|(_, v)| v))
            .chain(&given.rest);
        if all.has(CHANGER) {
            let sites: Vec<u32> = each.flat_map(Value::reached).collect();
            return self.put(&sites, &held);
        }
        let bound = each.filter(|v| v.has(BOUND) && !v.covers(all));
        let sites: Vec<u32> = bound.flat_map(Value::reached).collect();
        self.put(&sites, &held);
    }

    /// What a method that the pass does not know keeps. `gives`: what it is given, and what functions gave back.
    pub(super) fn keeps(
        &mut self,
        on: &Value<'a>,
        name: &str,
        given: &Given<'a>,
        all: &Value<'a>,
        gives: Value<'a>,
    ) {
        // What is given may be kept in the object, and the object may be written into what is given.
        let (table, text) = (on.has(TABLE), TEXTS.contains(&name));
        let mut put = gives.without(PLAIN);
        if matches!(
            name,
            "add" | "append" | "appendleft" | "insert" | "setdefault"
        ) {
            put = put.without(SINGLE);
        }
        put.texts = given.positional.last().and_then(|v| v.texts.clone());
        // Other methods may put it into what the object holds: a model in a pipeline, a list in a cell.
        let contains = CONTAINING.contains(&name);
        let mut into = match contains && (on.has(LIST) || !table) {
            true => on.sites.clone(),
            false => on.changeable(),
        };
        if !contains {
            into.retain(|site| !self.of_texts.contains(site));
        }
        self.put(&into, &put.enclosed());
        if !on.is_bare() {
            let held = on.held().without(PLAIN);
            let each = given
                .positional
                .iter()
                .chain(given.keywords.iter().map(|(_, v)| v));
            let others: Vec<u32> = each
                .filter(|v| !v.has(PLAIN) && !v.covers(on))
                .flat_map(Value::reached)
                .collect();
            self.put(&others, &held);
        }
        if on.is_void() && !text {
            // A method of a type, given its object.
            self.change(given, all);
        }
        if super::unseen::files(name) && !table {
            self.changed |= self.named.join(&all.clone().and(on).held().without(PLAIN));
        }
        let all = all.clone().and(on);
        self.keep_bound(given, &all);
        if all.has(CHANGER) {
            self.put(&on.changeable(), &all.held().without(PLAIN));
        }
    }
}
