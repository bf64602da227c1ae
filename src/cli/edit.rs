//! Files of others' settings: read, shown as they would change, and replaced in one step.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};

use nix::unistd::{getegid, geteuid};
use similar::TextDiff;

use crate::error::Failure;
use crate::secrets::{Counts, Secrets};

/// Longer settings are not read.
const BYTES_MAX: u64 = 4 << 20;

/// The file itself, and behind a link what it leads to: the link stays.
pub(super) fn behind(path: PathBuf) -> Result<PathBuf, Failure> {
    match path.canonicalize() {
        Ok(behind) => Ok(behind),
        Err(e) if path.is_symlink() => Err(Failure::usage(format!(
            "{} is a link that leads nowhere: {e}",
            path.display()
        ))),
        Err(_) => Ok(path),
    }
}

/// What is in the file, if it is there.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let wrong = |e: String| Failure::usage(format!("{} cannot be read: {e}", path.display()));
    // A pipe in its place must not block.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(nix::libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(wrong(e.to_string())),
    };
    if !file.metadata().is_ok_and(|m| m.is_file()) {
        return Err(wrong("it is no regular file".to_owned()));
    }
    let mut text = String::new();
    file.take(BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|e| wrong(e.to_string()))?;
    match text.len() as u64 > BYTES_MAX {
        true => Err(wrong(format!("it has more than {BYTES_MAX} bytes"))),
        false => Ok(Some(text)),
    }
}

/// What would change. It may come before an agent's eyes: secrets beside it are marks.
pub(super) fn diff(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    let diff = TextDiff::from_lines(before, after);
    without_secrets(&diff.unified_diff().header(&name, &name).to_string())
}

/// A part of somebody's settings, to be shown.
pub(super) fn without_secrets(text: &str) -> String {
    let secrets = Secrets::here([]);
    secrets.redact(text, &mut Counts::new()).into_owned()
}

/// Replaces the file in one step, if it is still what was shown.
pub(super) fn write(path: &Path, before: Option<&str>, after: &str) -> io::Result<()> {
    let folder = path
        .parent()
        .ok_or_else(|| io::Error::other("it has no folder"))?;
    let now = match std::fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    if now.as_deref() != before.map(str::as_bytes) {
        return Err(io::Error::other("it changed meanwhile"));
    }
    if after.is_empty() {
        return std::fs::remove_file(path);
    }
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new();
    let mut file = file.prefix(".countersign-").tempfile_in(folder)?;
    file.write_all(after.as_bytes())?;
    if before.is_some() {
        let was = std::fs::metadata(path)?;
        // Whose it is, it stays: root may edit the settings of others.
        if (was.uid(), was.gid()) != (geteuid().as_raw(), getegid().as_raw()) {
            fchown(file.as_file(), Some(was.uid()), Some(was.gid()))?;
        }
        file.as_file().set_permissions(was.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_shown_of_settings_has_no_secrets() {
        let before =
            "{\n  \"env\": {\"ANTHROPIC_API_KEY\": \"q8Zt33kPw0aa12xY7\"},\n  \"a\": 1\n}\n";
        let after = before.replace("1\n", "2\n");
        let shown = diff(Path::new("settings.json"), before, &after);
        assert!(shown.contains("-  \"a\": 1\n+  \"a\": 2\n"), "{shown}");
        assert!(
            shown.contains("ANTHROPIC_API_KEY") && !shown.contains("q8Zt33"),
            "{shown}"
        );
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        std::fs::write(&path, "a").unwrap();
        // Only root can give files away.
        let other = if geteuid().is_root() {
            65_534
        } else {
            geteuid().as_raw()
        };
        std::os::unix::fs::chown(&path, Some(other), None).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, Some("a"), "b").unwrap();
        let is = std::fs::metadata(&path).unwrap();
        assert_eq!((is.uid(), is.mode() & 0o7777), (other, 0o640));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "b");
        assert!(write(&path, Some("a"), "c").is_err());
    }
}
