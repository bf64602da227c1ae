//! A policy in plain sentences, from its data. Names of modules come from files: draw them sanitised.

use std::collections::BTreeMap;

use crate::model::{Action, Capability, Limits};
use crate::policy::{Changes, Contract, ListOf, Names, Origin, Policy, PrivateValues, SetBy};

use super::{bytes, count, number};

pub const NOTHING: &str = "nothing";
pub const ANY_MODULE: &str = "any module that is installed";
pub const HIDDEN: &str = "hidden: values that few rows share come back as [REDACTED]";
pub const TOLD: &str = "TOLD: their values go to the agent like public ones";
pub const NO_NETWORK: &str = "the tier has no network";
pub const OWN_RULES: &str = "its own rules: nothing is taken from a built-in profile";
pub const SAME: &str = "nothing but its name";
pub const BASE_UNKNOWN: &str = "what it extends is not known here";

/// Behind a policy's name: where it comes from.
pub fn origin(policy: &Policy) -> String {
    let whose = match policy.set_by {
        SetBy::Program => "built in",
        SetBy::Administrator => "set by the administrator",
        SetBy::User => "your file",
    };
    match &policy.origin {
        Origin::Builtin => whose.to_owned(),
        Origin::Extends { base, .. } => format!("{whose}, extends {base}"),
        Origin::Own => format!("{whose}, own rules"),
    }
}

/// The modules by package: `63 modules: json math numpy scipy(3)`.
pub fn imports(policy: &Policy) -> String {
    if policy.imports.contains_key("*") {
        return ANY_MODULE.to_owned();
    }
    if policy.imports.is_empty() {
        return NOTHING.to_owned();
    }
    let names = by_package(policy.imports.keys().map(String::as_str));
    format!(
        "{}: {}",
        count(policy.imports.len(), "module"),
        names.join(" ")
    )
}

pub fn unjudged(names: &str) -> String {
    format!("nothing is known of {names}: code that imports it is flagged")
}

/// What may be done with files, and where they are.
pub fn files(policy: &Policy) -> String {
    let place = match policy.contract {
        Contract::Analysis => " in its output folder",
        Contract::Walled => " in memory",
        Contract::Script => " in /scratch",
        Contract::Feature | Contract::Chart | Contract::Scoped => "",
    };
    let deeds = [
        (Capability::FsRead, "read"),
        (Capability::FsWrite, "write"),
        (Capability::FsDelete, "delete"),
    ];
    let by = |wanted| deeds_of(policy, &deeds, wanted);
    if by(Action::Block).len() == deeds.len() {
        return "none".to_owned();
    }
    let mut said = Vec::new();
    said.extend(joined(&by(Action::Note)).map(|what| format!("may {what}{place}")));
    said.extend(joined(&by(Action::Flag)).map(|what| format!("to {what}{place} is flagged")));
    said.extend(joined(&by(Action::Block)).map(|what| format!("may not {what}")));
    said.join("; ")
}

/// `walled_off`: the tier has no network, whatever the policy says.
pub fn network(policy: &Policy, walled_off: bool) -> String {
    let deeds = [
        (Capability::NetworkOut, "connect"),
        (Capability::NetworkListen, "listen"),
    ];
    let by = |wanted| deeds_of(policy, &deeds, wanted);
    let mut said = Vec::new();
    if by(Action::Block).len() == deeds.len() {
        said.push("none".to_owned());
    } else {
        said.extend(joined(&by(Action::Note)).map(|what| format!("may {what}")));
        said.extend(joined(&by(Action::Flag)).map(|what| format!("to {what} is flagged")));
        said.extend(joined(&by(Action::Block)).map(|what| format!("may not {what}")));
        if walled_off {
            said.push(NO_NETWORK.to_owned());
        }
    }
    said.join("; ")
}

/// What leads out of plain computing, beyond what stays inside the run.
pub fn beyond(policy: &Policy) -> String {
    let deeds = [
        (Capability::Exec, "programs"),
        (Capability::DynamicCode, "code made while it runs"),
        (Capability::Reflect, "the interpreter's inner parts"),
        (Capability::Deserialize, "objects made from bytes"),
        (Capability::Native, "native code"),
        (Capability::ReadSystemState, "reads of the system"),
        (Capability::ModifySystemState, "changes of the system"),
    ];
    let said = [
        (Action::Block, "never: "),
        (Action::Flag, "flagged: "),
        (Action::Note, "allowed: "),
    ];
    let said: Vec<String> = said
        .into_iter()
        .map(|(action, word)| (deeds_of(policy, &deeds, action), word))
        .filter(|(what, _)| !what.is_empty())
        .map(|(what, word)| format!("{word}{}", what.join(", ")))
        .collect();
    said.join("; ")
}

pub fn private(policy: &Policy) -> &'static str {
    match policy.tells_private() {
        true => TOLD,
        false => HIDDEN,
    }
}

/// The limits a person asks about first.
pub fn limits(l: &Limits) -> String {
    let mut said = vec![
        format!("{} s", number(l.wall_s)),
        format!("{} MB", number(l.memory_mb)),
        format!("{} of output", bytes(l.output_bytes)),
        count(usize::try_from(l.artifacts).unwrap_or(usize::MAX), "file") + " kept",
    ];
    if l.ticks > 0 {
        said.push(format!("{} ticks", number(l.ticks)));
    }
    said.join(", ")
}

pub const fn guard(on: bool) -> &'static str {
    match on {
        true => "guard on",
        false => "guard off: what is not let in is flagged, not refused",
    }
}

/// What a file changes against the policy that it extends: what it adds, and what it takes away.
pub fn changes(policy: &Policy, base: &Policy) -> (Vec<String>, Vec<String>) {
    let (mut wider, mut tighter) = (Vec::new(), Vec::new());
    let changes = Changes::between(base, policy);
    for (module, members) in changes.came {
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        wider.push(format!("imports {module} ({})", listed(&members)));
    }
    if !changes.gone.is_empty() {
        tighter.push(format!("no {}", listed(&changes.gone)));
    }
    let mut fewer = 0;
    for Names { of, gone, came } in changes.names {
        let what = match of {
            ListOf::Members(module) => {
                fewer += gone.len();
                if !came.is_empty() {
                    wider.push(format!("imports {} of {module}", listed(&came)));
                }
                continue;
            }
            ListOf::Builtins => ["built-in name", "fewer", "more"],
            ListOf::Nodes => ["kind of syntax node", "fewer", "more"],
            ListOf::Denied => ["attribute", "less refused", "more refused"],
            ListOf::Dunders => ["dunder name", "less to use", "more to use"],
            ListOf::Defined => ["dunder name", "less to define", "more to define"],
        };
        let [what, less, more] = what;
        let refuses = of == ListOf::Denied;
        for (names, how, widens) in [(gone, less, refuses), (came, more, !refuses)] {
            let list = if widens { &mut wider } else { &mut tighter };
            if !names.is_empty() {
                list.push(format!("{} {how}", plural(names.len(), what)));
            }
        }
    }
    if fewer > 0 {
        tighter.push(format!("{} fewer of modules", count(fewer, "member")));
    }
    for (capability, set) in changes.capabilities {
        let (old, new) = (set.old.as_str(), set.new.as_str());
        tighter.push(format!("{capability} {new}, was {old}"));
    }
    for (limit, set) in changes.limits {
        // No ticks are no limit; every other limit of 0 is the tightest.
        let most = |n: u64| match (limit, n) {
            ("ticks", 0) => u64::MAX,
            _ => n,
        };
        let widens = most(set.new) > most(set.old);
        let list = if widens { &mut wider } else { &mut tighter };
        let (old, new) = (number(set.old), number(set.new));
        list.push(format!("{} {new}, was {old}", measured(limit)));
    }
    if let Some(set) = changes.tier {
        tighter.push(format!("tier {}, was {}", set.new, set.old));
    }
    if let Some(set) = changes.guard {
        let list = if set.new { &mut tighter } else { &mut wider };
        list.push(guard(set.new).to_owned());
    }
    if let Some(set) = changes.private {
        let (list, said) = match set.new {
            PrivateValues::Hide => (&mut tighter, "private values hidden"),
            PrivateValues::Tell => (&mut wider, "private values told"),
        };
        list.push(said.to_owned());
    }
    tighter.extend(
        changes
            .grant
            .iter()
            .map(|rule| format!("a grant needs {rule}")),
    );
    (wider, tighter)
}

/// The deeds whose capability has this action.
fn deeds_of<'a>(policy: &Policy, deeds: &[(Capability, &'a str)], wanted: Action) -> Vec<&'a str> {
    let of = deeds.iter().filter(|(c, _)| policy.action(*c) == wanted);
    of.map(|(_, word)| *word).collect()
}

/// `read`, `read and write`, `read, write and delete`.
fn joined(words: &[&str]) -> Option<String> {
    match words {
        [] => None,
        [one] => Some((*one).to_owned()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}

/// The most names of a list that are said.
const LISTED: usize = 8;

fn listed(names: &[&str]) -> String {
    match names.split_at_checked(LISTED) {
        Some((some, more)) if !more.is_empty() => {
            format!("{} and {} more", some.join(", "), more.len())
        }
        _ => names.join(", "),
    }
}

fn plural(count: usize, what: &str) -> String {
    match what.split_once(" of ") {
        Some((first, rest)) => format!("{} of {rest}", super::count(count, first)),
        None => super::count(count, what),
    }
}

/// Groups module names by package, with the number of modules in each.
fn by_package<'a>(modules: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut packages: BTreeMap<&str, usize> = BTreeMap::new();
    for module in modules {
        let package = module.split('.').next().unwrap_or(module);
        *packages.entry(package).or_default() += 1;
    }
    let word = |(package, count): (&str, usize)| match count {
        1 => package.to_owned(),
        more => format!("{package}({more})"),
    };
    packages.into_iter().map(word).collect()
}

/// What a limit counts, by its name in a policy file.
fn measured(limit: &str) -> &str {
    match limit {
        "wall_s" => "seconds",
        "cpu_s" => "seconds of processor",
        "memory_mb" => "MB of memory",
        "open_files" => "open files",
        "file_size_mb" => "MB of one file",
        "output_bytes" => "bytes of output",
        "artifacts" => "files kept",
        "artifact_bytes" => "bytes of one kept file",
        "code_bytes" => "bytes of code",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::*;
    use crate::policy::builtin;

    fn of(name: &str) -> Arc<Policy> {
        let all = builtin().unwrap();
        all.into_iter().find(|p| p.name == name).unwrap()
    }

    #[test]
    fn modules_are_listed_by_package() {
        let modules = ["json", "scipy", "scipy.fft", "scipy.stats"];
        assert_eq!(by_package(modules.into_iter()), ["json", "scipy(3)"]);
    }

    #[test]
    fn built_in_profiles_say_what_they_let_in() {
        let analysis = of("analysis");
        assert_eq!(
            files(&analysis),
            "may read and write in its output folder; may not delete"
        );
        assert_eq!(network(&analysis, true), "none");
        assert!(beyond(&analysis).starts_with("never: programs, code made while it runs"));
        assert!(
            imports(&analysis).contains(" pandas"),
            "{}",
            imports(&analysis)
        );
        assert_eq!(private(&analysis), HIDDEN);
        assert_eq!(files(&of("chart")), "none");
        let script = of("script");
        assert_eq!(imports(&script), ANY_MODULE);
        assert_eq!(
            files(&script),
            "to read, write and delete in /scratch is flagged"
        );
        assert_eq!(
            network(&script, true),
            "to connect and listen is flagged; the tier has no network"
        );
        assert!(beyond(&script).starts_with("flagged: programs"));
        assert_eq!(
            limits(&of("walled").limits),
            "30 s, 1,024 MB, 100,000 bytes of output, 0 files kept, 10,000,000 ticks"
        );
    }

    #[test]
    fn every_capability_is_said() {
        let mut policy = Policy::clone(&of("script"));
        let before = [files(&policy), network(&policy, false), beyond(&policy)];
        for capability in Capability::ALL {
            let data = matches!(
                capability,
                Capability::DataRead | Capability::DataWrite | Capability::Unanalyzed
            );
            let was = policy.capabilities.insert(capability, Action::Block);
            let now = [files(&policy), network(&policy, false), beyond(&policy)];
            assert_eq!(now == before, data, "{capability}");
            policy.capabilities.extend(was.map(|was| (capability, was)));
        }
    }

    #[test]
    fn what_a_file_changes_is_said_with_what_was() {
        let base = of("analysis");
        let mut team = Policy::clone(&base);
        let members = BTreeSet::from(["KaplanMeierFitter".to_owned()]);
        team.imports.insert("lifelines".to_owned(), members);
        team.imports.remove("plotly");
        team.limits.wall_s = 60;
        team.capabilities.insert(Capability::FsWrite, Action::Flag);
        team.nodes.pop_first();
        let (wider, tighter) = changes(&team, &base);
        assert_eq!(wider, ["imports lifelines (KaplanMeierFitter)"]);
        assert_eq!(
            tighter,
            [
                "no plotly",
                "1 kind of syntax node fewer",
                "FS_WRITE flag, was note",
                "seconds 60, was 300",
            ]
        );
        assert_eq!(changes(&base, &base), (Vec::new(), Vec::new()));
    }
}
