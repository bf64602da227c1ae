//! What the rows of screen 2 come to, counted away from the loop.

use std::sync::Arc;

use jiff::Timestamp;

use crate::audit::query::Query;
use crate::tui::{Sum, Summed, Sums};

use super::review::Source;

/// Counts what a question selects and hands the answer back.
pub fn load(source: Source, query: String, what: Sum, back: impl FnOnce(Sums) + Send + 'static) {
    tokio::task::spawn_blocking(move || {
        let answer = summed(&source, &query, what);
        back(Sums { query, answer });
    });
}

fn summed(source: &Source, question: &str, what: Sum) -> Result<Summed, String> {
    let query = Query::parse(question, Timestamp::now()).map_err(|e| e.to_string())?;
    if query.own().is_some() {
        return Err("records that belong to no proposal are listed, not counted".to_owned());
    }
    let query = query.without_waiting_drills();
    let log = source.open().map_err(|e| e.to_string())?;
    // They are counted, so nothing of them is compared with lines of the log later.
    let answers = log.answers_to(&query, "the screen", &|_, _| {});
    let mut answers = answers.map_err(|e| e.to_string())?;
    match what {
        Sum::Facets => answers.facets(&query, question).map(Summed::Facets),
        Sum::Statistics => answers
            .stats(&query)
            .map(|stats| Summed::Statistics(Arc::new(stats))),
    }
    .map_err(|e| e.to_string())
}
