//! What names have, where they are read and where they are bound.

use std::borrow::Cow;

use super::value::{GROUPED, LIST, MASK, MODEL, PLAIN, TABLE, Value, WHOLE};
use super::words::TEXTS;
use super::{Pass, fold};
use crate::analysis::parse::ast::{self, Expr};

impl<'a> Pass<'a> {
    /// The value of a name where it is read.
    pub(super) fn look_up(&mut self, name: &Cow<'a, str>) -> Option<Value<'a>> {
        let (mut inner, mut later) = (true, false);
        let mut found: Option<Value<'a>> = None;
        let add = |found: &mut Option<Value<'a>>, value: &Value<'a>| match found {
            Some(known) => {
                known.join(value);
            }
            None => *found = Some(value.clone()),
        };
        for frame in self.frames.iter().rev() {
            if let Some(value) = frame.names.get(name) {
                if inner && !later {
                    return Some(self.whole(value));
                }
                add(&mut found, value);
                if inner {
                    break;
                }
            }
            inner &= frame.inner;
            later |= frame.later;
        }
        if later {
            if !self.asked.contains(name) {
                self.asked.insert(name.clone());
            }
            if let Some(value) = self.ever.get(name) {
                add(&mut found, value);
            }
        }
        if !inner && let Some(value) = self.left.get(name) {
            add(&mut found, value);
        }
        found.map(|value| self.whole(&value))
    }

    /// Keeps what a name had for what runs later.
    fn remember(&mut self, name: Cow<'a, str>, value: &Value<'a>) {
        if value.is_void() {
            return;
        }
        let asked = self.asked.contains(&name);
        let grew = match self.ever.get_mut(&name) {
            Some(known) => known.join(value),
            None => self.ever.insert(name, value.clone()).is_none(),
        };
        self.changed |= grew && asked;
    }

    /// Gives a name a value.
    pub(super) fn bind(&mut self, name: Cow<'a, str>, value: Value<'a>) {
        let top = self.frames.len() - 1;
        self.bind_in(top, name, value);
    }

    pub(super) fn bind_in(&mut self, top: usize, name: Cow<'a, str>, value: Value<'a>) {
        let value = self.counted(value);
        let weak = self.weak > 0;
        let outer = self.frames[top].outer.contains(&name);
        if outer {
            for frame in &mut self.frames[..top] {
                if let Some(known) = frame.names.get_mut(&name) {
                    self.grew |= known.join(&value);
                }
            }
            self.remember(name.clone(), &value);
            let known = self.frames[0].names.entry(name).or_default();
            self.grew |= known.join(&value);
            return;
        }
        match self.frames[top].names.get_mut(&name) {
            Some(known) if weak => {
                let grew = known.join(&value);
                self.grew |= grew;
                if grew {
                    self.remember(name.clone(), &value);
                }
            }
            Some(known) => {
                let before = std::mem::replace(known, value.clone());
                self.remember(name.clone(), &before);
                self.remember(name.clone(), &value);
            }
            None => {
                self.grew |= weak && !value.is_nothing();
                if self.asked.contains(&name) {
                    self.remember(name.clone(), &value);
                }
                self.frames[top].names.insert(name, value);
            }
        }
    }

    /// A binding of a name that the text has.
    pub(super) fn bind_name(&mut self, name: &'a str, value: Value<'a>) {
        self.bind(fold(name), value);
    }

    /// Whether a call makes a text or a number, into which nothing can be put.
    pub(super) fn makes_text(&mut self, x: &'a ast::ExprCall, on: &Value<'a>) -> bool {
        const MAKING: &[&str] = &[
            "ascii", "bool", "chr", "float", "format", "int", "repr", "str",
        ];
        match &*x.func {
            Expr::Name(f) => {
                let name = f.id.as_str();
                MAKING.contains(&name) && self.look_up(&fold(name)).is_none()
            }
            Expr::Attribute(f) => {
                let name = fold(f.attr.as_str());
                let plain = on.is_immutable();
                let column = PLAIN | GROUPED | LIST | MASK | MODEL | TABLE | WHOLE;
                plain
                    && !on.has(column)
                    && TEXTS.contains(&&*name)
                    && self.methods_of(&name).is_empty()
            }
            _ => false,
        }
    }
}
