//! Mounts and mount attributes, for the views of both tiers.

use std::ffi::{CString, OsStr};
use std::path::Path;

use nix::mount::{MsFlags, mount};

use super::super::raw;
use super::{Attempt, Reason, Refusal, Step};

/// mount(2). `source` is a path, or any name if the file system type has no source.
pub fn mount_at(
    source: Option<&OsStr>,
    target: &Path,
    kind: Option<&str>,
    flags: MsFlags,
    options: Option<&str>,
) -> nix::Result<()> {
    mount(source, target, kind, flags, options)
}

/// Sets attributes of the mount at `path` (mount_setattr(2)), and of all mounts below it if
/// `recursive`. `step` names the step in the error.
pub fn attributes(path: &Path, set: u64, recursive: bool, step: Step) -> Result<(), Refusal> {
    let path = CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|e| Refusal::new(Reason::PathWithNul, e))?;
    raw::set_mount_attributes(&path, set, recursive).step(step)
}
