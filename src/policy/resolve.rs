//! Resolves a file into a policy: defaults, `extends`, and the rule that a file that extends can only tighten.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use unicode_normalization::is_nfkc;

use super::closed;
use super::error::PolicyError;
use super::file::{self, File};
use super::grant;
use super::nodes;
use super::resolved::{Attributes, Contract, Origin, Policy, PrivateValues, SetBy};
use crate::model::nearest;
use crate::model::{Action, Capability, Digest, Limits, Tier};

/// A policy with its text and the texts of the policies that it extends.
#[derive(Clone)]
pub(super) struct Sourced {
    pub policy: Policy,
    pub text: String,
    pub path: PathBuf,
    /// The administrator's policy that it is or is built on, if any. No user's policy may widen that.
    pub bound_by: Option<String>,
}

/// A file's text and its origin.
#[derive(Clone, Copy)]
pub(super) struct Written<'t> {
    pub path: &'t Path,
    pub text: &'t str,
    pub set_by: SetBy,
}

/// Resolves a file that extends nothing.
pub(super) fn own(
    written: Written<'_>,
    file: File,
    origin: Origin,
) -> Result<Sourced, PolicyError> {
    let Written { path, text, set_by } = written;
    if file.widen.is_some() {
        return Err(
            PolicyError::new(path, "widening needs something to widen: add `extends`")
                .at(text, "widen.imports"),
        );
    }
    let Some(contract) = file.contract else {
        return Err(PolicyError::new(
            path,
            "a file that extends nothing must name its contract: feature, analysis, chart, scoped, walled or script",
        )
        .at(text, "contract"));
    };
    let attributes = file.attributes;
    let (deny, allow_dunder, define_dunder) = attributes.map_or_else(Default::default, |a| {
        (a.deny, a.allow_dunder, a.define_dunder)
    });
    let mut policy = Policy {
        name: file.name,
        sha256: Digest::of(text.as_bytes()),
        origin,
        set_by,
        contract,
        guard: file.guard.unwrap_or(true),
        imports: file.imports.unwrap_or_default(),
        unjudged: BTreeSet::new(),
        builtins: file.builtins.map(|b| b.allow).unwrap_or_default(),
        attributes: Attributes {
            deny: deny.unwrap_or_default(),
            allow_dunder: allow_dunder.unwrap_or_default(),
            define_dunder: define_dunder.unwrap_or_default(),
        },
        nodes: nodes::allowed(path, text, file.nodes.map(|n| n.allow).unwrap_or_default())?,
        capabilities: file.capabilities.unwrap_or_default(),
        limits: limits(&file.limits.unwrap_or_default(), Limits::default()),
        tier: file.isolation.map_or(Tier::Kernel, |i| i.tier),
        private: file.data.map_or_else(Default::default, |d| d.private),
        grant: Vec::new(),
    };
    grant::add(&mut policy.grant, file.grant, path, text)?;
    check_limits(path, text, &policy.limits)?;
    if !policy.guard && policy.tier < Tier::Kernel {
        return Err(PolicyError::new(
            path,
            "guard = false needs tier kernel or stronger: without the gates only the kernel confines",
        )
        .at(text, "guard"));
    }
    check_imports(path, text, "imports", &policy.imports)?;
    Ok(Sourced {
        bound_by: (set_by == SetBy::Administrator).then(|| policy.name.clone()),
        policy,
        text: text.to_owned(),
        path: path.to_owned(),
    })
}

/// Resolves a file that extends `base`. Except for `[widen.imports]` it may only tighten.
pub(super) fn extending(
    written: Written<'_>,
    file: File,
    base: &Sourced,
) -> Result<Sourced, PolicyError> {
    let Written { path, text, set_by } = written;
    let tighten = Tighten {
        path,
        text,
        base: &base.policy.name,
    };
    let mut policy = base.policy.clone();
    if let Some(contract) = file.contract
        && contract != policy.contract
    {
        let message = format!("the contract cannot differ from that of `{}`", tighten.base);
        return tighten.refuse("contract", &message);
    }
    if let Some(guard) = file.guard {
        if policy.guard && !guard {
            return tighten.refuse("guard", "the guard can be switched on, not off");
        }
        policy.guard = guard;
    }
    if let Some(imports) = file.imports {
        tighten.imports(&imports, &policy.imports)?;
        policy.imports = imports;
    }
    if let Some(builtins) = file.builtins {
        tighten.subset("builtins.allow", &builtins.allow, &policy.builtins)?;
        policy.builtins = builtins.allow;
    }
    if let Some(nodes) = file.nodes {
        let allow = nodes::allowed(path, text, nodes.allow)?;
        tighten.subset("nodes.allow", &allow, &policy.nodes)?;
        policy.nodes = allow;
    }
    if let Some(attributes) = file.attributes {
        if let Some(deny) = attributes.deny {
            policy.attributes.deny.extend(deny);
        }
        if let Some(allow) = attributes.allow_dunder {
            tighten.subset(
                "attributes.allow_dunder",
                &allow,
                &policy.attributes.allow_dunder,
            )?;
            policy.attributes.allow_dunder = allow;
        }
        if let Some(define) = attributes.define_dunder {
            tighten.subset(
                "attributes.define_dunder",
                &define,
                &policy.attributes.define_dunder,
            )?;
            policy.attributes.define_dunder = define;
        }
    }
    if let Some(capabilities) = file.capabilities {
        for (capability, action) in capabilities {
            tighten.capability(capability, action, base.policy.action(capability))?;
            policy.capabilities.insert(capability, action);
        }
    }
    if let Some(wanted) = file.limits {
        tighten.limits(&wanted, &policy.limits)?;
        policy.limits = limits(&wanted, policy.limits);
        check_limits(path, text, &policy.limits)?;
    }
    if let Some(isolation) = file.isolation {
        if isolation.tier < policy.tier {
            let message = format!(
                "the tier of `{}` is {}; weaker is not tighter",
                tighten.base, policy.tier
            );
            return tighten.refuse("isolation.tier", &message);
        }
        policy.tier = isolation.tier;
    }
    if let Some(data) = file.data {
        if (policy.private, data.private) == (PrivateValues::Hide, PrivateValues::Tell) {
            let message = format!(
                "`{}` hides the values of private data sets; only a file that extends nothing may \
                 tell them",
                tighten.base
            );
            return tighten.refuse("data.private", &message);
        }
        policy.private = data.private;
    }
    grant::add(&mut policy.grant, file.grant, path, text)?;
    let mut widened = 0;
    if let Some(widen) = file.widen {
        if set_by == SetBy::User
            && let Some(bound) = &base.bound_by
        {
            let message = format!(
                "`{bound}` is the administrator's: what is built on it cannot be widened here"
            );
            return tighten.refuse("widen.imports", &message);
        }
        check_imports(path, text, "widen.imports", &widen.imports)?;
        let mut unjudged = Vec::new();
        for (module, members) in &widen.imports {
            let nothing = BTreeSet::new();
            let had = policy.imports.get(module).unwrap_or(&nothing);
            match closed::judge(module, members, had, &policy) {
                Ok(unknown) => unjudged.extend(unknown),
                Err(why) => return tighten.refuse(&format!("widen.imports.{module}"), &why),
            }
        }
        for (module, members) in widen.imports {
            let known = policy.imports.entry(module).or_default();
            let before = known.len();
            known.extend(members);
            widened += usize::from(known.len() > before);
        }
        policy.unjudged.extend(unjudged);
    }
    let base_widened = match &base.policy.origin {
        Origin::Extends { widened, .. } => *widened,
        Origin::Builtin | Origin::Own => 0,
    };
    policy.origin = match &base.policy.origin {
        // A policy built on own rules also counts as own rules.
        Origin::Own => Origin::Own,
        Origin::Builtin => Origin::Extends {
            base: base.policy.name.clone(),
            widened,
        },
        Origin::Extends { base, .. } => Origin::Extends {
            base: base.clone(),
            widened: base_widened + widened,
        },
    };
    let text = format!("{text}{}", base.text);
    policy.name = file.name;
    policy.set_by = set_by;
    policy.sha256 = Digest::of(text.as_bytes());
    Ok(Sourced {
        bound_by: if set_by == SetBy::Administrator {
            Some(policy.name.clone())
        } else {
            base.bound_by.clone()
        },
        policy,
        text,
        path: path.to_owned(),
    })
}

/// Refuses values that would loosen the base policy.
struct Tighten<'t> {
    path: &'t Path,
    text: &'t str,
    base: &'t str,
}

impl Tighten<'_> {
    fn refuse<T>(&self, key: &str, message: &str) -> Result<T, PolicyError> {
        Err(PolicyError::new(self.path, message).at(self.text, key))
    }

    fn subset(
        &self,
        key: &str,
        wanted: &BTreeSet<String>,
        given: &BTreeSet<String>,
    ) -> Result<(), PolicyError> {
        let members = key.starts_with("imports.");
        for name in wanted.difference(given) {
            // `*` stands only for public members.
            let within = given.contains("*") && !(members && name.starts_with('_'));
            if within || (members && name.starts_with('-')) {
                continue;
            }
            let message = format!(
                "`{name}` is not in `{}`; a file that extends can only tighten",
                self.base
            );
            let mut error = PolicyError::new(self.path, message).at(self.text, key);
            error.nearest = nearest(name, given.iter().map(String::as_str)).map(str::to_owned);
            return Err(error);
        }
        Ok(())
    }

    fn imports(
        &self,
        wanted: &BTreeMap<String, BTreeSet<String>>,
        given: &BTreeMap<String, BTreeSet<String>>,
    ) -> Result<(), PolicyError> {
        check_imports(self.path, self.text, "imports", wanted)?;
        for (module, members) in wanted {
            let key = format!("imports.{module}");
            let Some(allowed) = given.get(module).or_else(|| given.get("*")) else {
                let message = format!(
                    "`{}` does not list it; use [widen.imports] to add a module",
                    self.base
                );
                let mut error = PolicyError::new(self.path, message).at(self.text, &key);
                error.nearest =
                    nearest(module, given.keys().map(String::as_str)).map(str::to_owned);
                return Err(error);
            };
            self.subset(&key, members, allowed)?;
            // Members excluded from `*` must stay excluded.
            for minus in allowed.iter().filter(|m| m.starts_with('-')) {
                if members.contains("*") && !members.contains(minus)
                    || members.contains(&minus[1..])
                {
                    let message = format!(
                        "`{}` takes `{}` out; leave `{minus}` in the list",
                        self.base,
                        &minus[1..]
                    );
                    return self.refuse(&key, &message);
                }
            }
        }
        Ok(())
    }

    fn capability(
        &self,
        capability: Capability,
        wanted: Action,
        given: Action,
    ) -> Result<(), PolicyError> {
        if wanted < given {
            let message = format!(
                "`{}` says {}; {} is looser",
                self.base,
                given.as_str(),
                wanted.as_str()
            );
            return self.refuse(&format!("capabilities.{capability}"), &message);
        }
        Ok(())
    }

    fn limits(&self, wanted: &file::Limits, given: &Limits) -> Result<(), PolicyError> {
        let pairs = [
            ("wall_s", wanted.wall_s, given.wall_s),
            ("cpu_s", wanted.cpu_s, given.cpu_s),
            ("memory_mb", wanted.memory_mb, given.memory_mb),
            ("processes", wanted.processes, given.processes),
            ("open_files", wanted.open_files, given.open_files),
            ("file_size_mb", wanted.file_size_mb, given.file_size_mb),
            ("output_bytes", wanted.output_bytes, given.output_bytes),
            ("artifacts", wanted.artifacts, given.artifacts),
            (
                "artifact_bytes",
                wanted.artifact_bytes,
                given.artifact_bytes,
            ),
            ("code_bytes", wanted.code_bytes, given.code_bytes),
            // 0 ticks means no limit.
            (
                "ticks",
                wanted.ticks.map(|t| if t == 0 { u64::MAX } else { t }),
                if given.ticks == 0 {
                    u64::MAX
                } else {
                    given.ticks
                },
            ),
        ];
        for (key, wanted, given) in pairs {
            if wanted.is_some_and(|wanted| wanted > given) {
                let message = format!("more than the {given} of `{}`", self.base);
                return self.refuse(&format!("limits.{key}"), &message);
            }
        }
        Ok(())
    }
}

fn limits(wanted: &file::Limits, given: Limits) -> Limits {
    Limits {
        wall_s: wanted.wall_s.unwrap_or(given.wall_s),
        cpu_s: wanted.cpu_s.unwrap_or(given.cpu_s),
        memory_mb: wanted.memory_mb.unwrap_or(given.memory_mb),
        processes: wanted.processes.unwrap_or(given.processes),
        open_files: wanted.open_files.unwrap_or(given.open_files),
        file_size_mb: wanted.file_size_mb.unwrap_or(given.file_size_mb),
        output_bytes: wanted.output_bytes.unwrap_or(given.output_bytes),
        artifacts: wanted.artifacts.unwrap_or(given.artifacts),
        artifact_bytes: wanted.artifact_bytes.unwrap_or(given.artifact_bytes),
        ticks: wanted.ticks.unwrap_or(given.ticks),
        code_bytes: wanted.code_bytes.unwrap_or(given.code_bytes),
    }
}

/// Checks the range of each limit: below it nothing can run, above it there would be no real limit, or a clock
/// or counter would overflow.
fn check_limits(path: &Path, text: &str, limits: &Limits) -> Result<(), PolicyError> {
    const YEAR_S: u64 = 365 * 24 * 3600;
    const TIB: u64 = 1 << 40;
    let bounds = [
        ("wall_s", limits.wall_s, 1, YEAR_S),
        ("cpu_s", limits.cpu_s, 1, YEAR_S),
        ("memory_mb", limits.memory_mb, 1, TIB >> 20),
        ("processes", limits.processes, 1, 1 << 20),
        ("open_files", limits.open_files, 1, 1 << 20),
        ("file_size_mb", limits.file_size_mb, 0, TIB >> 20),
        ("output_bytes", limits.output_bytes, 0, TIB),
        ("artifacts", limits.artifacts, 0, 1 << 20),
        ("artifact_bytes", limits.artifact_bytes, 0, TIB),
        ("code_bytes", limits.code_bytes, 1, Limits::CODE_BYTES_MAX),
    ];
    match bounds
        .iter()
        .find(|(_, is, least, most)| !(least..=most).contains(&is))
    {
        None => Ok(()),
        Some((key, is, least, most)) => {
            let message = format!("{is} is not between {least} and {most}");
            Err(PolicyError::new(path, message).at(text, &format!("limits.{key}")))
        }
    }
}

/// Checks that modules and members are Python names: anything else would match nothing or too much.
fn check_imports(
    path: &Path,
    text: &str,
    table: &str,
    imports: &BTreeMap<String, BTreeSet<String>>,
) -> Result<(), PolicyError> {
    let name = |s: &str| {
        let mut chars = s.chars();
        chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
            && chars.all(|c| c == '_' || c.is_alphanumeric())
    };
    for (module, members) in imports {
        let key = format!("{table}.{module}");
        if closed::is_runner(module) {
            return Err(PolicyError::new(path, closed::RUNNER).at(text, &key));
        }
        let everything = module == "*" && table == "imports";
        if !everything && !module.split('.').all(name) {
            return Err(PolicyError::new(path, "not the name of a module").at(text, &key));
        }
        // Python compares names after NFKC: a name in another form would match nothing or imitate another one.
        let other = std::iter::once(module).chain(members).find(|n| !is_nfkc(n));
        if let Some(other) = other {
            let message = format!("`{other}` is not in the form that Python gives names (NFKC)");
            return Err(PolicyError::new(path, message).at(text, &key));
        }
        if let Some(wrong) = members
            .iter()
            .find(|m| *m != "*" && !name(m.strip_prefix('-').unwrap_or(m)))
        {
            let message = format!("`{wrong}` is not the name of a member; `*` stands for all");
            return Err(PolicyError::new(path, message).at(text, &key));
        }
        if table == "widen.imports" && members.iter().any(|m| m.starts_with('_')) {
            return Err(PolicyError::new(path, "widening never adds private names").at(text, &key));
        }
    }
    Ok(())
}

/// The names of the built-in profiles and their contracts.
pub(super) fn contract_names() -> [(&'static str, Contract); 6] {
    [
        ("feature", Contract::Feature),
        ("analysis", Contract::Analysis),
        ("chart", Contract::Chart),
        ("scoped", Contract::Scoped),
        ("walled", Contract::Walled),
        ("script", Contract::Script),
    ]
}
