//! What the index keeps of a proposal, from what its lines say: what is written is what is compared.

use std::collections::BTreeSet;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::super::cases::{Case, Course, Shown};
use super::{IndexError, nanos};
use crate::model::{DrillEnd, State, Tier};

/// The columns of `proposals` beside `n`, in the order of [`columns`]. The last three say who decided, or had the
/// dashboard open.
pub(super) const COLUMNS: &str = "id, seq, at, uid, agent, agent_shown, profile, title, says, reason, verdict, state, \
     course, drill, private, edited, took, look, asked_again, ran, ended_by, asked, accesses, tier, host, shown, by_uid, by_login, by_shown";
const COUNT: usize = 29;
/// How many of them are of the proposal's own records.
pub(super) const OWN: usize = COUNT - 3;

/// Their values.
pub(super) fn columns(case: &Case, state: State) -> Result<Vec<Value>, IndexError> {
    let lower = |text: &str| Value::from(text.to_lowercase());
    let maybe = |text: Option<&str>| text.map_or(Value::Null, &lower);
    let word = |text: Option<&str>| text.map_or(Value::Null, |text| text.to_owned().into());
    let span = |time: Option<std::time::Duration>| {
        time.map_or(Value::Null, |t| Value::from(t.as_nanos() as i64))
    };
    let (title, says) = (&case.asked.title, &case.asked.reason);
    let counted = case.ran.as_ref().map(|ran| &ran.accesses);
    let accesses = match counted.filter(|counted| !counted.is_empty()) {
        Some(counted) => serde_json::to_string(counted)?.into(),
        None => Value::Null,
    };
    let ended_by = case.ran.as_ref().and_then(|ran| ran.limit);
    let login = case.by.as_ref().and_then(|by| by.login.as_deref());
    Ok(vec![
        case.id.to_string().into(),
        case.seq.cast_signed().into(),
        nanos(case.at).into(),
        i64::from(case.agent.0).into(),
        lower(&case.agent.1),
        case.agent.1.to_string().into(),
        lower(&case.asked.profile),
        maybe(title.as_deref()),
        maybe(says.as_deref()),
        maybe(case.denial.as_deref()),
        case.judged().verdict.as_str().to_owned().into(),
        state.as_str().to_owned().into(),
        course(case.course).to_owned().into(),
        word(case.drill.map(|harm| harm.as_str())),
        i64::from(case.asked.private).into(),
        i64::from(case.edited.is_some()).into(),
        span(case.took()),
        span(case.looked()),
        i64::from(case.viewed.is_some_and(|viewed| viewed.asked_again)).into(),
        span(case.ran.as_ref().map(|ran| ran.time)),
        word(ended_by.map(|limit| limit.as_str())),
        nanos(case.asked.at).into(),
        accesses,
        word(case.tier.map(Tier::as_str)),
        maybe(case.host.as_deref()),
        word(case.shown().map(Shown::as_str)),
        case.by
            .as_ref()
            .map_or(Value::Null, |by| i64::from(by.uid).into()),
        maybe(login),
        word(login),
    ])
}

/// What the index has in their place; `None` if it has no such proposal.
pub(super) fn kept(connection: &Connection, n: i64) -> Result<Option<Vec<Value>>, IndexError> {
    let mut select =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM proposals WHERE n = ?1"))?;
    let mut rows = select.query([n])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let values = (0..COUNT).map(|column| row.get::<_, Value>(column));
    Ok(Some(values.collect::<Result<_, _>>()?))
}

/// What can be asked of it in a table of its own: kinds and values.
pub(super) fn facts(case: &Case) -> BTreeSet<(&'static str, String)> {
    let judged = case.judged();
    let codes = [
        Some(case.asked.digest),
        case.edited.as_ref().map(|e| e.digest),
    ];
    let ran = || case.ran.iter();
    let texts = |kind, texts: &[std::sync::Arc<str>]| -> Vec<(&'static str, String)> {
        texts
            .iter()
            .map(|text| (kind, text.to_lowercase()))
            .collect()
    };
    let caps = judged.caps.iter();
    texts("rule", &judged.rules)
        .into_iter()
        .chain(caps.map(|cap| ("cap", cap.as_str().to_lowercase())))
        .chain(texts("data", &case.asked.data))
        .chain(ran().flat_map(|ran| texts("file", &ran.files)))
        .chain(ran().flat_map(|ran| texts("error", &ran.errors)))
        .chain(codes.into_iter().flatten().map(|code| ("code", code.hex())))
        .collect()
}

/// A course as a word.
pub(super) fn course(course: Course) -> &'static str {
    match course {
        Course::Waits => "waits",
        Course::Granted => "granted",
        Course::Denied => "denied",
        Course::Expired => "expired",
        Course::Drilled(DrillEnd::Caught) => "caught",
        Course::Drilled(DrillEnd::Granted) => "drill granted",
        Course::Drilled(DrillEnd::Unanswered) => "unanswered",
        Course::Other => "other",
    }
}

/// The course that [`course`] gives as this word.
pub(super) fn course_named(word: &str) -> Option<Course> {
    Some(match word {
        "waits" => Course::Waits,
        "granted" => Course::Granted,
        "denied" => Course::Denied,
        "expired" => Course::Expired,
        "caught" => Course::Drilled(DrillEnd::Caught),
        "drill granted" => Course::Drilled(DrillEnd::Granted),
        "unanswered" => Course::Drilled(DrillEnd::Unanswered),
        "other" => Course::Other,
        _ => return None,
    })
}
