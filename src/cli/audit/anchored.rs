//! What vouches for a log, for `audit verify`: which checkpoints, whose key, and since when.
//!
//! A key that lies beside a log says nothing of what was there before it: whoever copies a folder without its checkpoints
//! and opens it gets a new key, and its first checkpoint is over everything. So `--require-anchor` takes for the records
//! before it only what the caller brings: the key they expect (`--key`), or a checkpoint (`--anchor`).

use std::path::Path;

use crate::audit::{Begun, Report, Signed, Store, TlogError, VerifierKey};
use crate::error::Failure;
use crate::model::{grouped, visible};

use super::anchors;

/// The checkpoints to compare with.
pub(super) struct Known {
    pub signed: Vec<Signed>,
    /// What checks the newest one in the folder of checkpoints.
    key: Option<VerifierKey>,
    /// Whether the caller brought that key, or a checkpoint that it signed.
    brought: bool,
    /// Whether the key that the caller named is a file of the folder of checkpoints.
    lies_beside: bool,
    /// How many records a checkpoint signs that the caller brought.
    anchor: u64,
}

/// What they say of a log.
#[derive(Default)]
pub(super) struct Anchored {
    /// The log extends checkpoints up to here.
    pub through: Option<u64>,
    /// Since when.
    pub begun: Option<Begun>,
    /// That the key is one that lies beside the log.
    pub beside: Option<String>,
    pub fault: Option<String>,
    /// Why `--require-anchor` is not satisfied, and what would do.
    pub lacks: Option<String>,
}

/// The checkpoints to compare with, or why one of them is none of this log.
pub(super) fn known(
    anchor: Option<&Path>,
    key: Option<&str>,
    store: &Store,
) -> Result<Result<Known, String>, Failure> {
    let given = key.map(anchors::key).transpose()?;
    let own = match (&given, anchor) {
        // The key is that of the folder.
        (Some(key), None) => Ok(Some(key.clone())),
        _ => store.key(),
    };
    let mut known = Known {
        signed: Vec::new(),
        key: None,
        brought: given.is_some() && anchor.is_none(),
        lies_beside: key.is_some_and(|key| lies_in(key, store)),
        anchor: 0,
    };
    if let Ok(Some(key)) = &own {
        match store.latest(key) {
            Ok(latest) => known.signed.extend(latest),
            Err(e) => return Ok(Err(e.to_string())),
        }
        known.key = Some(key.clone());
    }
    let Some(anchor) = anchor else {
        return Ok(own.map(|_| known).map_err(|e| e.to_string()));
    };
    let own = own.ok().flatten();
    let Some(key) = given.as_ref().or(own.as_ref()) else {
        let dir = store.dir().display().to_string();
        return Err(Failure::usage(format!(
            "no key is known for the checkpoint: {} has none; give the log's own with --key",
            visible(&dir)
        )));
    };
    let file = anchor.display().to_string();
    Ok(match anchors::checkpoint(anchor, key)? {
        Ok(signed) => {
            // Whoever signed what was kept elsewhere signs here too.
            known.brought = own.as_ref().is_none_or(|own| own == key);
            known.anchor = signed.checkpoint.size;
            known.signed.push(signed);
            Ok(known)
        }
        Err(e) => Err(format!("{file}: {e}")),
    })
}

/// Whether a key is a file of the folder of checkpoints, which can be as new as the folder says.
fn lies_in(key: &str, store: &Store) -> bool {
    let (file, dir) = (Path::new(key).canonicalize(), store.dir().canonicalize());
    file.ok()
        .zip(dir.ok())
        .is_some_and(|(file, dir)| file.starts_with(dir))
}

impl Anchored {
    pub fn of(
        known: &Known,
        compared: Result<(), TlogError>,
        report: &Report,
        store: &Store,
    ) -> Self {
        let through = known
            .signed
            .iter()
            .map(|signed| signed.checkpoint.size)
            .max();
        let begun = match &known.key {
            Some(key) if !known.signed.is_empty() => store.begun(key),
            _ => Ok(None),
        };
        let through = through.filter(|size| *size > 0);
        let begun = compared
            .map_err(|e| e.to_string())
            .and_then(|()| begun.map_err(|e| e.to_string()));
        match begun {
            Ok(begun) => Self {
                lacks: lacks(known, report, through, begun.as_ref(), store),
                beside: through
                    .filter(|_| !known.brought || known.lies_beside)
                    .map(|_| beside(store)),
                through,
                begun,
                fault: None,
            },
            Err(why) => Self {
                lacks: Some(why.clone()),
                fault: Some(why),
                ..Self::default()
            },
        }
    }
}

fn beside(store: &Store) -> String {
    let signs = match store.has_private_key() {
        true => "; the key that signs lies there too, and whoever can read it can sign another log",
        false => "",
    };
    format!(
        "the key that checks this lies in {}, and can be as new as it says; --key FILE names the one that you expect{signs}",
        store.dir().display()
    )
}

fn lacks(
    known: &Known,
    report: &Report,
    through: Option<u64>,
    begun: Option<&Begun>,
    store: &Store,
) -> Option<String> {
    let Some(through) = through else {
        let dir = store.dir().display();
        return Some(format!(
            "there is no checkpoint in {dir}: --checkpoints DIR names another folder, --anchor FILE a checkpoint that was kept \
             elsewhere"
        ));
    };
    let newest = report.removals.iter().map(|removed| removed.seq).max();
    if newest > Some(through) {
        return Some("no checkpoint signs the last removal".to_owned());
    }
    if known.brought {
        return None;
    }
    const WOULD_DO: &str =
        "--key FILE names the key that you expected, --anchor FILE a checkpoint of then";
    // The first record that nothing from elsewhere vouches for.
    let first = report.removed_through.unwrap_or(0).max(known.anchor) + 1;
    match begun {
        None => Some(format!(
            "nothing says since when the key in {} signs: {WOULD_DO}",
            store.dir().display()
        )),
        Some(begun) if begun.from > first => Some(format!(
            "the records {} to {} were there before the key in {} was made, and no older checkpoint vouches for them: {WOULD_DO}",
            grouped(first),
            grouped(begun.from - 1),
            store.dir().display()
        )),
        Some(_) => None,
    }
}
