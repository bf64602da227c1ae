//! A checkpoint right after a command that removed something: what remains is signed before anybody can say otherwise.

use std::path::Path;
use std::sync::mpsc;

use crate::app;
use crate::audit::{self, Notary, NotaryEvent};
use crate::config::Config;
use crate::model::visible;

use super::super::out::tell;

/// Signs a log that no dashboard has open up to its end, and says if that fails.
pub fn now(config: &Config, state_dir: &Path) {
    let failed = |why: &str| {
        let why = visible(why);
        tell(&format!(
            "no checkpoint signs this yet: {why}; the next dashboard makes one"
        ));
    };
    let anchoring = match app::anchoring(config) {
        Ok(anchoring) => anchoring,
        Err(e) => return failed(&e.to_string()),
    };
    // What stands in the journal alone gets into its place.
    let durable = match audit::open(state_dir) {
        Ok(opened) => opened.durable,
        Err(e) => return failed(&e.to_string()),
    };
    let (tell_it, told) = mpsc::channel();
    let report = Box::new(move |event| {
        let _ = tell_it.send(event);
    });
    let notary = Notary::start(state_dir, anchoring, durable, report);
    notary.close();
    // It may still be at work if a command or a witness takes long.
    let last = told.try_iter().last();
    if let Some(NotaryEvent::Failed(why) | NotaryEvent::Contradiction(why)) = last {
        failed(&why);
    }
}
