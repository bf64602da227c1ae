//! What the rows of screen 2 come to, counted away from the loop.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::mpsc::UnboundedSender;

use crate::audit::Log;
use crate::audit::query::Query;
use crate::tui::{Sum, Summed, Sums};

use super::Input;

/// Counts what a question selects; the answer comes back through the inbox.
pub fn load(state_dir: PathBuf, query: String, what: Sum, inbox: UnboundedSender<Input>) {
    tokio::task::spawn_blocking(move || {
        let answer = summed(&state_dir, &query, what);
        let _ = inbox.send(Input::Sums(Sums { query, answer }));
    });
}

fn summed(state_dir: &Path, question: &str, what: Sum) -> Result<Summed, String> {
    let query = Query::parse(question, Timestamp::now()).map_err(|e| e.to_string())?;
    let query = query.without_waiting_drills();
    let log = Log::open(state_dir).map_err(|e| e.to_string())?;
    let mut answers = log.answers().map_err(|e| e.to_string())?;
    match what {
        Sum::Facets => answers.facets(&query, question).map(Summed::Facets),
        Sum::Statistics => answers
            .stats(&query)
            .map(|stats| Summed::Statistics(Arc::new(stats))),
    }
    .map_err(|e| e.to_string())
}
