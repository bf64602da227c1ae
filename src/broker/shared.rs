//! The scope `public`: plain JSON that a run leaves for later runs of the same agent's session.
//!
//! A session is the server's random token, or the connection if there is no token; never a name
//! that an agent gives itself.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::model::ConnId;

use super::session::Session;

/// The name of the scope, and of the input that passes it to the next run.
pub(super) const PUBLIC: &str = "public";
/// Bytes of JSON that one session keeps. Changes that would exceed this are dropped.
const BYTES_MAX: usize = 64 * 1024;
/// Sessions that keep values; the least recently changed is forgotten first.
const SESSIONS_MAX: usize = 512;

/// The public values of all sessions.
#[derive(Debug, Default)]
pub(super) struct Shared {
    kept: VecDeque<(Session, Map<String, Value>)>,
}

impl Shared {
    /// The values that the session keeps, if there are any.
    pub fn of(&self, session: &Session) -> Option<&Map<String, Value>> {
        let found = self.kept.iter().find(|(key, _)| key == session);
        found.map(|(_, values)| values).filter(|v| !v.is_empty())
    }

    /// Merges what a run changed: `before` is what it was given, `after` what it left. What another
    /// run of the session changed meanwhile stays.
    pub fn merge(
        &mut self,
        session: &Session,
        before: &Map<String, Value>,
        after: Map<String, Value>,
    ) {
        let at = self.kept.iter().position(|(key, _)| key == session);
        let mut values = at
            .and_then(|at| self.kept.remove(at))
            .map(|(_, values)| values)
            .unwrap_or_default();
        let old = values.clone();
        values.retain(|name, _| after.contains_key(name) || !before.contains_key(name));
        for (name, value) in after {
            if before.get(&name) != Some(&value) {
                values.insert(name, value);
            }
        }
        let fits = serde_json::to_vec(&values).is_ok_and(|text| text.len() <= BYTES_MAX);
        self.kept
            .push_back((session.clone(), if fits { values } else { old }));
        if self.kept.len() > SESSIONS_MAX {
            self.kept.pop_front();
        }
    }

    /// Drops what a closed connection without a token kept: nobody can come back to it.
    pub fn forget(&mut self, conn: ConnId) {
        self.kept
            .retain(|(key, _)| *key != Session::Connection(conn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn token(text: &str) -> Session {
        Session::Token(text.to_owned())
    }

    #[test]
    fn a_run_changes_what_it_changed_and_nothing_else() {
        let mut shared = Shared::default();
        let (ours, none) = (token("a"), Map::new());
        shared.merge(&ours, &none, map(json!({"a": 1, "b": 1})));
        // Two runs that were given the same values: each changes its own.
        let given = map(json!({"a": 1, "b": 1}));
        shared.merge(&ours, &given, map(json!({"a": 2, "b": 1})));
        shared.merge(&ours, &given, map(json!({"a": 1, "c": 3})));
        assert_eq!(shared.of(&ours), Some(&map(json!({"a": 2, "c": 3}))));
        assert_eq!(shared.of(&token("b")), None);
        assert_eq!(shared.of(&Session::Connection(ConnId(1))), None);
    }

    #[test]
    fn what_a_session_keeps_is_bounded() {
        let mut shared = Shared::default();
        let ours = token("a");
        shared.merge(&ours, &Map::new(), map(json!({"small": 1})));
        let large = "x".repeat(BYTES_MAX);
        shared.merge(&ours, &Map::new(), map(json!({"large": large})));
        assert_eq!(shared.of(&ours), Some(&map(json!({"small": 1}))));
        for i in 0..SESSIONS_MAX {
            shared.merge(&token(&format!("n{i}")), &Map::new(), map(json!({"k": 1})));
        }
        assert_eq!(shared.of(&ours), None);
        let conn = Session::Connection(ConnId(7));
        shared.merge(&conn, &Map::new(), map(json!({"k": 1})));
        shared.forget(ConnId(7));
        assert_eq!(shared.of(&conn), None);
    }
}
