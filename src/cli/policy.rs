//! `countersign policy`: the policies in force, what a file changes, whether a file is valid.

mod grants;

use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Globals;
use super::out::{print, print_json};
use crate::config;
use crate::error::Failure;
use crate::model::nearest;
use crate::model::{Capability, Tier, visible};
use crate::policy::{
    Changes, ListOf, Origin, Places, Policy, PolicyError, PrivateValues, SetBy, load, load_file,
};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// The policies in force, or one of them in full
    Show {
        name: Option<String>,
        /// As JSON, as the analyser and the child are given it
        #[arg(long)]
        json: bool,
    },
    /// What a file changes against what it extends
    Diff { file: PathBuf },
    /// Whether a file is sound
    Check { file: PathBuf },
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let text = match &args.command {
        Command::Show { name: None, json } => list(&policies(globals)?, least(globals)?, *json)?,
        Command::Show {
            name: Some(name),
            json,
        } => show(&policies(globals)?, name, least(globals)?, *json)?,
        Command::Diff { file } => {
            let places = places(globals)?;
            let policy = load_file(file, &places).map_err(unsound)?;
            Said::Text(diff(&policy, &policies_beside(&places, file)?))
        }
        Command::Check { file } => {
            let policy = load_file(file, &places(globals)?).map_err(unsound)?;
            let (grants, warnings) = grants::told(&policy, globals);
            let sound = match warnings {
                0 => "sound".to_owned(),
                1 => "sound, with 1 warning".to_owned(),
                n => format!("sound, with {n} warnings"),
            };
            let sound = format!(
                "{}: {sound}; {}, contract {}, tier {}, private values {}, sha256 {}\n",
                visible(&file.display().to_string()),
                policy.label(),
                policy.contract.as_str(),
                policy.tier,
                if policy.tells_private() {
                    "told"
                } else {
                    "hidden"
                },
                policy.sha256.hex()
            );
            Said::Text(sound + &grants)
        }
    };
    match text {
        Said::Text(text) => print(|out| out.write_all(text.as_bytes()))?,
        Said::Json(json) => print_json(&json)?,
    }
    Ok(0)
}

/// What a command prints.
enum Said {
    Text(String),
    Json(String),
}

/// An invalid policy file: exit code 1.
fn unsound(error: PolicyError) -> Failure {
    Failure::general(error.to_string())
}

/// The policy folders: the administrator's, and the user's by flag or in the XDG configuration
/// folder.
fn places(globals: &Globals) -> Result<Places, Failure> {
    let paths = config::paths(&globals.options()).map_err(|e| Failure::usage(e.to_string()))?;
    Ok(Places::of(&paths))
}

/// The policies in force.
pub(super) fn policies(globals: &Globals) -> Result<Vec<Arc<Policy>>, Failure> {
    load(&places(globals)?).map_err(|e| Failure::usage(e.to_string()))
}

/// The weakest tier for runs of this user's dashboard, whatever the policies say.
fn least(globals: &Globals) -> Result<Tier, Failure> {
    Ok(globals.load()?.least_tier())
}

/// The policies in force, or the built-in ones if a policy folder is invalid: the file in question
/// may be the reason.
fn policies_beside(places: &Places, file: &Path) -> Result<Vec<Arc<Policy>>, Failure> {
    match load(places) {
        Ok(policies) => Ok(policies),
        Err(error)
            if [file, &places.user, &places.admin]
                .iter()
                .any(|at| error.file.starts_with(at)) =>
        {
            crate::policy::builtin().map_err(|e| Failure::usage(e.to_string()))
        }
        Err(error) => Err(Failure::usage(error.to_string())),
    }
}

fn list(policies: &[Arc<Policy>], least: Tier, json: bool) -> Result<Said, Failure> {
    if json {
        return to_json(&policies);
    }
    let mut out = String::new();
    for p in policies {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{:<20} contract {:<9} tier {:<8} guard {:<3} {:>3} modules  wall {:>4} s  sha256 {}{}{}{}",
            p.label(),
            p.contract.as_str(),
            p.tier.max(least),
            if p.guard { "on" } else { "off" },
            p.imports.len(),
            p.limits.wall_s,
            p.sha256.short(16),
            if p.tells_private() {
                "  tells private values"
            } else {
                ""
            },
            if p.grant.is_empty() {
                ""
            } else {
                "  signed grants"
            },
            match p.set_by {
                SetBy::Administrator => "  set by the administrator",
                SetBy::Program | SetBy::User => "",
            }
        );
    }
    Ok(Said::Text(out))
}

fn show(policies: &[Arc<Policy>], name: &str, least: Tier, json: bool) -> Result<Said, Failure> {
    let Some(p) = policies.iter().find(|p| p.name == name) else {
        let near = nearest(name, policies.iter().map(|p| p.name.as_str()))
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let names: Vec<&str> = policies.iter().map(|p| p.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "no policy `{name}`{near} (policies: {})",
            names.join(", ")
        )));
    };
    if json {
        return to_json(p);
    }
    let mut out = String::new();
    let _ = writeln!(out, "name = {:?}", p.name);
    match &p.origin {
        Origin::Builtin => out.push_str("# built in\n"),
        Origin::Extends { base, widened } => {
            let _ = writeln!(out, "# extends {base}, widened by {widened}");
        }
        Origin::Own => out.push_str("# own rules\n"),
    }
    if p.set_by == SetBy::Administrator {
        out.push_str("# set by the administrator\n");
    }
    let _ = writeln!(out, "# sha256 {}", p.sha256.hex());
    let _ = writeln!(out, "contract = {:?}", p.contract.as_str());
    let _ = writeln!(out, "guard = {}", p.guard);
    out.push_str("\n[imports]\n");
    if !p.unjudged.is_empty() {
        let names: Vec<&str> = p.unjudged.iter().map(String::as_str).collect();
        let _ = writeln!(
            out,
            "# nothing is known of {}: their import is flagged",
            names.join(", ")
        );
    }
    for (module, members) in &p.imports {
        let _ = writeln!(out, "{module:?} = [{}]", quoted(members));
    }
    let _ = writeln!(out, "\n[builtins]\nallow = [{}]", quoted(&p.builtins));
    let _ = writeln!(
        out,
        "\n[attributes]\ndeny = [{}]\nallow_dunder = [{}]\ndefine_dunder = [{}]",
        quoted(&p.attributes.deny),
        quoted(&p.attributes.allow_dunder),
        quoted(&p.attributes.define_dunder)
    );
    let _ = writeln!(out, "\n[nodes]\nallow = [{}]", quoted(&p.nodes));
    out.push_str("\n[capabilities]\n");
    for capability in Capability::ALL {
        let _ = writeln!(out, "{capability} = {:?}", p.action(capability).as_str());
    }
    out.push_str("\n[limits]\n");
    for (key, value) in p.limits.named() {
        let _ = writeln!(out, "{key} = {value}");
    }
    let _ = writeln!(out, "\n[isolation]\ntier = {:?}", p.tier.as_str());
    if least > p.tier {
        let _ = writeln!(
            out,
            "# runs have {least} here, by config.toml or by default"
        );
    }
    let _ = writeln!(out, "\n[data]\nprivate = {:?}", p.private.as_str());
    if p.private == PrivateValues::Tell && !p.tells_private() {
        out.push_str("# the contract scoped hides them all the same\n");
    }
    for rule in &p.grant {
        let _ = write!(out, "\n# {rule}\n{}", rule.as_toml());
    }
    Ok(Said::Text(out))
}

/// What a policy changes relative to its base: `-` for what it removes, `+` for what it adds, `~`
/// for what it sets.
fn diff(policy: &Policy, known: &[Arc<Policy>]) -> String {
    let base_name = match &policy.origin {
        Origin::Extends { base, .. } => base.clone(),
        Origin::Builtin | Origin::Own => policy.contract.as_str().to_owned(),
    };
    let mut out = format!("{} against {base_name}\n", policy.label());
    let Some(base) = known.iter().find(|p| p.name == base_name) else {
        return out;
    };
    let before = out.len();
    let changes = Changes::between(base, policy);
    for module in changes.gone {
        let _ = writeln!(out, "- imports {module}");
    }
    for (module, members) in changes.came {
        let _ = writeln!(out, "+ imports {module} [{}]", quoted(members));
    }
    for names in changes.names {
        let what = match names.of {
            ListOf::Members(module) => format!("imports {module}"),
            ListOf::Builtins => "builtins".to_owned(),
            ListOf::Nodes => "nodes".to_owned(),
            ListOf::Denied => "attributes deny".to_owned(),
            ListOf::Dunders => "attributes allow_dunder".to_owned(),
            ListOf::Defined => "attributes define_dunder".to_owned(),
        };
        for (sign, list) in [("-", names.gone), ("+", names.came)] {
            for name in list {
                let _ = writeln!(out, "{sign} {what} {}", visible(name));
            }
        }
    }
    let mut sets = |what: &str, old: &dyn Display, new: &dyn Display| {
        let _ = writeln!(out, "~ {what} {old} → {new}");
    };
    for (capability, set) in changes.capabilities {
        sets(
            &capability.to_string(),
            &set.old.as_str(),
            &set.new.as_str(),
        );
    }
    for (limit, set) in changes.limits {
        sets(limit, &set.old, &set.new);
    }
    if let Some(set) = changes.tier {
        sets("tier", &set.old, &set.new);
    }
    if let Some(set) = changes.private {
        sets("private values", &set.old.as_str(), &set.new.as_str());
    }
    if let Some(set) = changes.guard {
        sets("guard", &set.old, &set.new);
    }
    for rule in changes.grant {
        let _ = writeln!(out, "+ grant {rule}");
    }
    if out.len() == before {
        out.push_str("nothing\n");
    }
    out
}

fn quoted(names: &BTreeSet<String>) -> String {
    let names: Vec<String> = names.iter().map(|n| format!("{n:?}")).collect();
    names.join(", ")
}

fn to_json(value: &impl serde::Serialize) -> Result<Said, Failure> {
    let text = serde_json::to_string(value).map_err(|e| Failure::general(e.to_string()))?;
    Ok(Said::Json(text))
}
