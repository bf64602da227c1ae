//! Landlock: what the payload may do with the files in its jail.
//!
//! It backs up `root`: if a mount came back or a descriptor leaked, the right to use it would still
//! be missing. Every right that the kernel knows is handled, so everything without a rule is
//! denied, TCP included. Scopes keep signals and abstract sockets inside. The payload makes and
//! closes the ruleset itself, because an inherited open ruleset could be extended.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope,
};

use super::super::{Reason, Refusal, Step};
use super::root::SCRATCH;
use crate::sandbox::raw;

/// The newest version whose rights this code knows; older kernels have fewer.
const NEWEST: ABI = ABI::V9;

/// Restricts this process permanently. Returns the layer's name, such as `landlock:7`.
pub fn restrict(bound: &[PathBuf]) -> Result<String, Refusal> {
    let status = apply(bound).map_err(|e| Refusal::new(Step::RestrictFiles, e))?;
    let LandlockStatus::Available { effective_abi, .. } = status.landlock else {
        return Err(unavailable());
    };
    // The rights of the first version are mandatory; newer ones are used where they exist.
    if status.ruleset == RulesetStatus::NotEnforced || effective_abi < ABI::V1 {
        return Err(unavailable());
    }
    Ok(format!("landlock:{}", effective_abi as i32))
}

fn unavailable() -> Refusal {
    Refusal::new(Reason::Landlock, "landlock")
}

/// The rights of the payload for each path. A file gets only the rights that apply to files.
fn rules(bound: &[PathBuf]) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let mut rules = vec![
        (PathBuf::from("/proc"), read),
        // The payload changes its own settings there, such as a thread's name.
        (PathBuf::from("/proc/self"), read | AccessFs::WriteFile),
        (PathBuf::from("/dev"), read | AccessFs::WriteFile),
        (
            PathBuf::from("/dev/shm"),
            read | AccessFs::WriteFile
                | AccessFs::MakeReg
                | AccessFs::RemoveFile
                | AccessFs::Truncate
                | AccessFs::Refer,
        ),
        (
            PathBuf::from(SCRATCH),
            AccessFs::from_all(NEWEST)
                & !(AccessFs::Execute
                    | AccessFs::MakeChar
                    | AccessFs::MakeBlock
                    | AccessFs::MakeSock
                    | AccessFs::IoctlDev
                    | AccessFs::ResolveUnix),
        ),
    ];
    rules.extend(
        bound
            .iter()
            .map(|path| (path.clone(), read | AccessFs::Execute)),
    );
    rules
}

/// The same rules as numbers, for the runner of a warm start, which makes the ruleset itself.
#[derive(Debug)]
pub struct Numbers {
    /// `struct landlock_ruleset_attr`: the handled rights of files and network, and the scopes. An
    /// older kernel accepts the fields it does not know as long as they are zero.
    pub handled: [u64; 3],
    pub paths: Vec<(PathBuf, u64)>,
    pub file_rights: u64,
    /// The layer's name, such as `landlock:7`.
    pub layer: String,
}

/// The numbers for the version of this kernel.
pub fn numbers(bound: &[PathBuf]) -> Result<Numbers, Refusal> {
    let abi = ABI::from(raw::landlock_version().map_err(|_| unavailable())?);
    if abi < ABI::V1 {
        return Err(unavailable());
    }
    let known = AccessFs::from_all(abi);
    Ok(Numbers {
        handled: [
            known.bits(),
            AccessNet::from_all(abi).bits(),
            Scope::from_all(abi).bits(),
        ],
        paths: rules(bound)
            .into_iter()
            .map(|(path, rights)| (path, (rights & known).bits()))
            .collect(),
        file_rights: AccessFs::from_file(abi).bits(),
        layer: format!("landlock:{}", abi as i32),
    })
}

fn apply(bound: &[PathBuf]) -> Result<RestrictionStatus, Box<dyn std::error::Error>> {
    let mut set = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    for (path, rights) in rules(bound) {
        let rights = if path.is_dir() {
            rights
        } else {
            rights & AccessFs::from_file(NEWEST)
        };
        set = set.add_rule(PathBeneath::new(PathFd::new(&path)?, rights))?;
    }
    Ok(set.restrict_self()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is granted stands here in full: a right that is not named is denied.
    #[test]
    fn each_path_has_the_rights_that_are_named_and_no_other() {
        use AccessFs as A;
        let read = A::ReadFile | A::ReadDir;
        let bound = PathBuf::from("/usr/lib");
        let scratch = read
            | A::WriteFile
            | A::RemoveDir
            | A::RemoveFile
            | A::MakeDir
            | A::MakeReg
            | A::MakeFifo
            | A::MakeSym
            | A::Refer
            | A::Truncate;
        let shared = read | A::WriteFile | A::MakeReg | A::RemoveFile | A::Truncate | A::Refer;
        let expected = [
            ("/proc", read),
            ("/proc/self", read | A::WriteFile),
            ("/dev", read | A::WriteFile),
            ("/dev/shm", shared),
            (SCRATCH, scratch),
            ("/usr/lib", read | A::Execute),
        ]
        .map(|(path, rights)| (PathBuf::from(path), rights));
        assert_eq!(rules(std::slice::from_ref(&bound)), expected);
        // The numbers of a warm start are the same rights, as far as this kernel knows them.
        let Ok(version) = raw::landlock_version() else {
            return;
        };
        let known = A::from_all(ABI::from(version)).bits();
        let numbers = numbers(&[bound]).unwrap();
        assert_eq!(numbers.handled[0], known);
        let given = numbers.paths.into_iter();
        for ((path, bits), (expected, rights)) in given.zip(expected) {
            assert_eq!((path, bits), (expected, rights.bits() & known));
        }
    }
}
