//! `countersign doctor --fix`: does what needs no root, after a question, and prints the rest as commands.
//!
//! Nothing here loosens anything: a mode only loses bits, and only of what belongs to the user.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use nix::unistd::geteuid;

use super::super::out::{print, tell};
use super::super::{Globals, ask, setup};
use super::Check;
use crate::error::Failure;
use crate::model::visible;

/// What can be done about a finding without root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fix {
    /// Make the managed Python environment.
    Environment,
    /// Take these bits from the mode.
    Tighten { path: PathBuf, bits: u32 },
}

impl Fix {
    /// For a path that lets others in: a fix if it is the user's own.
    pub(super) fn tighten(path: &Path, bits: u32) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        let own = meta.uid() == geteuid().as_raw() && meta.mode() & bits != 0;
        own.then(|| Self::Tighten {
            path: path.to_owned(),
            bits,
        })
    }

    /// As a person would do it.
    pub(super) fn command(&self) -> String {
        match self {
            Self::Environment => "countersign setup".to_owned(),
            Self::Tighten { path, bits } => chmod(path, *bits),
        }
    }

    fn apply(&self, globals: &Globals) -> Result<(), String> {
        match self {
            Self::Environment => setup::run(&setup::Args {}, globals)
                .map(drop)
                .map_err(|e| e.to_string()),
            Self::Tighten { path, bits } => take_bits(path, *bits).map_err(|e| e.to_string()),
        }
    }
}

/// The command that takes these bits from the mode of a path.
pub(super) fn chmod(path: &Path, bits: u32) -> String {
    let who = match bits {
        0o022 => "go-w",
        0o067 => "g-rw,o-rwx",
        _ => "go-rwx",
    };
    let path = path.display().to_string();
    let quoted = shlex::try_quote(&path).map_or_else(|_| path.clone(), |p| p.into_owned());
    format!("chmod {who} {quoted}")
}

/// By the opened file: its name may lead elsewhere a moment later.
fn take_bits(path: &Path, bits: u32) -> io::Result<()> {
    let file = File::options()
        .read(true)
        .custom_flags(O_NOFOLLOW | O_NONBLOCK)
        .open(path.canonicalize()?)?;
    let meta = file.metadata()?;
    if meta.uid() != geteuid().as_raw() {
        return Err(io::Error::other("it is not yours any more"));
    }
    file.set_permissions(Permissions::from_mode(meta.mode() & 0o7777 & !bits))
}

/// Does what the checks offer, and returns whether something was tried.
pub(super) fn run(checks: &[Check], yes: bool, globals: &Globals) -> Result<bool, Failure> {
    let mut fixes: Vec<&Fix> = checks.iter().flat_map(|check| &check.fixes).collect();
    fixes.dedup();
    let commands: Vec<&String> = checks.iter().flat_map(|check| &check.commands).collect();
    print(|out| {
        if fixes.is_empty() {
            writeln!(out, "\nnothing can be fixed from here")?;
        } else {
            writeln!(out, "\nto be done now:")?;
        }
        for fix in &fixes {
            writeln!(out, "  {}", visible(&fix.command()))?;
        }
        if !commands.is_empty() {
            writeln!(out, "for you to run, since they are root's:")?;
        }
        for command in &commands {
            writeln!(out, "  {}", visible(command))?;
        }
        Ok(())
    })?;
    if fixes.is_empty() {
        return Ok(false);
    }
    if !yes && !ask::agrees("do it?", "nothing was changed")? {
        return Err(Failure::usage("nothing was changed"));
    }
    for fix in fixes {
        match fix.apply(globals) {
            Ok(()) => tell(&format!("done: {}", fix.command())),
            Err(why) => tell(&format!("not done: {}: {why}", fix.command())),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_mode_only_loses_bits_and_a_link_is_followed_to_what_was_checked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("it's");
        std::fs::create_dir(&path).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for (before, bits, after) in [
            (0o2777, 0o022, 0o2755),
            (0o755, 0o077, 0o700),
            (0o070, 0o077, 0),
            (0o500, 0o077, 0o500),
        ] {
            std::fs::set_permissions(&path, Permissions::from_mode(before)).unwrap();
            let fix = Fix::tighten(&link, bits);
            assert_eq!(fix.is_some(), before & bits != 0, "{before:o}");
            // Only root can open a folder that gives its owner nothing.
            if geteuid().is_root() || before & 0o400 != 0 {
                take_bits(&link, bits).unwrap();
                let mode = path.metadata().unwrap().mode() & 0o7777;
                assert_eq!(mode, after, "{before:o}");
            }
        }
        std::fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        assert!(chmod(&path, 0o022).starts_with("chmod go-w \""));
        assert!(Fix::tighten(Path::new("/no/such"), 0o022).is_none());
    }
}
