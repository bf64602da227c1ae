//! Tells whether a file is still the one that was read, without reading it again.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Identifies an untouched file: device, inode, size, and both times in ns. Nobody can set the last
/// one, the change time.
pub type Stamp = (u64, u64, u64, i128, i128);

/// The current stamp of the file.
pub fn stamp(path: &Path) -> Option<Stamp> {
    let m = std::fs::metadata(path).ok()?;
    let ns = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
    let modified = ns(m.mtime(), m.mtime_nsec());
    let changed = ns(m.ctime(), m.ctime_nsec());
    Some((m.dev(), m.ino(), m.size(), modified, changed))
}

/// The stamp, taken once every later change will show in it: the kernel gives two changes within
/// one clock tick the same time. `None` if waiting for that is impossible; then nothing is cached
/// for the file.
pub fn settled(path: &Path) -> Option<Stamp> {
    let seen = stamp(path)?;
    let whole = seen.3 % 1_000_000_000 == 0 && seen.4 % 1_000_000_000 == 0;
    // Some file systems count whole seconds, the oldest of them two.
    let tick = if whole { COARSE_TICK } else { TICK };
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let age = i128::try_from(since_epoch.as_nanos()).ok()? - seen.4;
    let left = i128::try_from(tick.as_nanos()).ok()? - age;
    if age < 0 {
        // The clock was set back, so a later change may get the same time.
        return None;
    }
    if left > 0 {
        std::thread::sleep(Duration::from_nanos(u64::try_from(left).ok()?));
    }
    stamp(path).filter(|now| *now == seen)
}

/// Longer than a tick of any kernel (HZ=100).
const TICK: Duration = Duration::from_millis(20);
const COARSE_TICK: Duration = Duration::from_secs(2);
