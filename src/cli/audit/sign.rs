//! A checkpoint right after a command that removed something: what remains is signed before anybody can say otherwise.

use std::path::Path;
use std::sync::mpsc;

use crate::app;
use crate::audit::{self, Notary, NotaryEvent, Vouched};
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
    let store = state_dir.canonicalize().map(|at| anchoring.store(&at));
    let notary = Notary::start(state_dir, anchoring, durable, report);
    let ended = notary.close();
    let why = match told.try_iter().last() {
        Some(NotaryEvent::Contradiction(why)) => return failed(&why),
        Some(NotaryEvent::Failed(why)) => why,
        Some(NotaryEvent::Works | NotaryEvent::Began(_)) | None if ended => return,
        _ => "what it is handed to has not answered yet".to_owned(),
    };
    let signed =
        store.is_ok_and(|store| Vouched::of(&store).is_ok_and(|vouched| vouched.size() >= durable));
    match signed {
        true => tell(&format!(
            "the checkpoint up to seq {durable} is signed and kept, but not taken by all who should have it: {}; the next \
             dashboard hands on one that holds this too",
            visible(&why)
        )),
        false => failed(&why),
    }
}
