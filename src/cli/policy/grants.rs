//! What `policy check` says of `[grant]`: its rules in words, and what no votes can meet as the people and keys are here.

use std::fmt::Write as _;

use super::super::Globals;
use crate::app::vain;
use crate::policy::Policy;

/// Lines below the one that says that the file is sound, none if it asks nobody; and how many of them are warnings.
pub(super) fn told(policy: &Policy, globals: &Globals) -> (String, usize) {
    let (mut out, mut warnings) = (String::new(), 0);
    if policy.grant.is_empty() {
        return (out, warnings);
    }
    for rule in &policy.grant {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  grant: {rule}");
    }
    let config = globals.load();
    let electorate = match &config {
        Ok(config) => vain::electorate(config),
        Err(why) => Some(Err(why.to_string())),
    };
    match electorate {
        None => out.push_str("  not compared with people: config.toml has no [desk]\n"),
        Some(Err(why)) => {
            let _ = writeln!(out, "  not compared with people: {why}");
        }
        Some(Ok(electorate)) => {
            let found = config.map(|config| vain::sentences(policy, &electorate, &config));
            let (never, notes) = found.unwrap_or_default();
            warnings = never.len();
            for sentence in never {
                let _ = writeln!(out, "  warning: {sentence}");
            }
            for sentence in notes {
                let _ = writeln!(out, "  note: {sentence}");
            }
        }
    }
    (out, warnings)
}
