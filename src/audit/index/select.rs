//! Questions as conditions of SQL over the table `proposals`. What people type becomes parameters.

use rusqlite::types::Value;

use super::super::query::test::{Glob, Side, Test};
use super::super::query::words::Words;
use super::super::query::{Key, Node};
use super::nanos;

/// A condition and its parameters.
pub(super) struct Sql {
    pub text: String,
    pub values: Vec<Value>,
}

impl Sql {
    pub fn of(node: &Node) -> Self {
        let mut sql = Self {
            text: String::new(),
            values: Vec::new(),
        };
        sql.node(node);
        sql
    }

    fn say(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn value(&mut self, value: impl Into<Value>) {
        self.values.push(value.into());
        self.text.push('?');
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::All(all) => self.several(all, " AND ", "1"),
            Node::Any(any) => self.several(any, " OR ", "0"),
            Node::Not(one) => {
                self.say("NOT ");
                self.node(one);
            }
            // What a proposal does not have does not hold, and its opposite does.
            Node::Is(test) => {
                self.say("ifnull(");
                self.test(test);
                self.say(", 0)");
            }
            Node::Says(words) => {
                self.matched("title says code edited", words);
            }
            Node::Printed(words) => self.matched("output", words),
        }
    }

    /// A phrase of FTS5. Words have no quotation marks.
    fn matched(&mut self, columns: &str, words: &Words) {
        let star = if words.begins() { " *" } else { "" };
        self.say("n IN (SELECT rowid FROM words WHERE words MATCH ");
        self.value(format!(
            "{{{columns}}} : \"{}\"{star}",
            words.all().join(" ")
        ));
        self.say(")");
    }

    fn several(&mut self, some: &[Node], between: &str, none: &str) {
        self.say("(");
        for (n, one) in some.iter().enumerate() {
            self.say(if n == 0 { "" } else { between });
            self.node(one);
        }
        self.say(if some.is_empty() { none } else { "" });
        self.say(")");
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::State(state) => self.is("state", state.as_str()),
            Test::Granted => self.is("course", "granted"),
            Test::Verdict(verdict) => self.is("verdict", verdict.as_str()),
            Test::Limit(limit) => self.is("ended_by", limit.as_str()),
            Test::Tier(tier) => self.is("tier", tier.as_str()),
            Test::Shown(shown) => self.is("shown", shown.as_str()),
            Test::Seq(seq) => {
                self.say("n IN (SELECT n FROM records WHERE seq = ");
                self.value(i64::try_from(*seq).unwrap_or(i64::MAX));
                self.say(")");
            }
            Test::Uid(uid) => {
                self.say("uid = ");
                self.value(i64::from(*uid));
            }
            Test::Flag(key, wanted) => {
                self.say(match key {
                    Key::Private => "private",
                    Key::Edited => "edited",
                    _ => "(drill IS NOT NULL)",
                });
                self.say(if *wanted { " = 1" } else { " = 0" });
            }
            Test::Span(key, side, time) => {
                self.say(match key {
                    Key::Took => "took",
                    Key::Look => "look",
                    _ => "ran",
                });
                self.say(match side {
                    Side::Below => " < ",
                    Side::AtMost => " <= ",
                    Side::Above => " > ",
                    Side::AtLeast => " >= ",
                });
                self.value(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
            }
            Test::Since(at) => {
                self.say("at >= ");
                self.value(nanos(*at));
            }
            Test::Until(at) => {
                self.say("at < ");
                self.value(nanos(*at));
            }
            Test::Text(key, glob) => self.glob(*key, glob),
            Test::Kind(_) => self.say("0"),
        }
    }

    fn is(&mut self, column: &str, value: &str) {
        self.say(column);
        self.say(" = ");
        self.value(value.to_owned());
    }

    fn glob(&mut self, key: Key, glob: &Glob) {
        match key {
            Key::Rule => self.fact("rule", glob),
            Key::Cap => self.fact("cap", glob),
            Key::Data => self.fact("data", glob),
            Key::File => self.fact("file", glob),
            Key::Error => self.fact("error", glob),
            Key::Agent => self.fits("agent", glob),
            Key::Profile => self.fits("profile", glob),
            Key::Host => self.fits("host", glob),
            Key::By => {
                self.say("(ifnull(");
                self.fits("by_login", glob);
                self.say(", 0) OR ");
                self.fits("CAST(by_uid AS TEXT)", glob);
                self.say(")");
            }
            Key::Title => self.part("title", glob),
            Key::Says => self.part("says", glob),
            Key::Reason => self.part("reason", glob),
            Key::Id => {
                let digits = glob.text();
                self.say("(id GLOB ");
                self.value(format!("{digits}*"));
                self.say(" OR id GLOB ");
                self.value(format!("*{digits}"));
                self.say(")");
            }
            _ => {
                self.say("n IN (SELECT n FROM facts WHERE kind = 'code' AND value GLOB ");
                self.value(format!("{}*", glob.text()));
                self.say(")");
            }
        }
    }

    fn fact(&mut self, kind: &str, glob: &Glob) {
        self.say("n IN (SELECT n FROM facts WHERE ");
        self.is("kind", kind);
        self.say(" AND ");
        self.fits("value", glob);
        self.say(")");
    }

    /// The whole text.
    fn fits(&mut self, column: &str, glob: &Glob) {
        self.say(column);
        match glob.is_plain() {
            true => {
                self.say(" = ");
                self.value(glob.text().to_owned());
            }
            false => {
                self.say(" GLOB ");
                self.value(escaped(glob.text()));
            }
        }
    }

    /// A part of the text.
    fn part(&mut self, column: &str, glob: &Glob) {
        match glob.is_plain() {
            true => {
                self.say("instr(");
                self.say(column);
                self.say(", ");
                self.value(glob.text().to_owned());
                self.say(") > 0");
            }
            false => {
                self.say(column);
                self.say(" GLOB ");
                self.value(format!("*{}*", escaped(glob.text())));
            }
        }
    }
}

/// In GLOB a bracket begins a set of characters.
fn escaped(pattern: &str) -> String {
    pattern.replace('[', "[[]")
}
