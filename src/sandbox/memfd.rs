//! Sealed memory files: nobody can change what is passed to the child.

use std::fs::{File, FileTimes};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::SystemTime;

use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::stat::{Mode, fchmod};
use rustix::fs::{MemfdFlags, memfd_create};
use sha2::{Digest as _, Sha256};

use crate::model::Digest;

/// The four seals: no writing, no growing, no shrinking, no further seals.
const SEALS: SealFlag = SealFlag::F_SEAL_WRITE
    .union(SealFlag::F_SEAL_GROW)
    .union(SealFlag::F_SEAL_SHRINK)
    .union(SealFlag::F_SEAL_SEAL);

/// A sealed copy of these bytes.
pub fn of_bytes(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = create(name)?;
    file.write_all(bytes)?;
    seal(file)
}

/// A sealed copy of a stream, its digest and its size. The digest covers the bytes that were
/// written, so it is the copy's even if the source changes. More than `max` bytes are an error.
pub fn of_reader(
    name: &str,
    reader: &mut impl Read,
    max: u64,
) -> io::Result<(OwnedFd, Digest, u64)> {
    let mut file = create(name)?;
    let mut hash = Sha256::new();
    let mut size = 0u64;
    let mut buffer = vec![0u8; 256 * 1024];
    loop {
        let n = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        size += n as u64;
        if size > max {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("more than {max} bytes"),
            ));
        }
        hash.update(&buffer[..n]);
        file.write_all(&buffer[..n])?;
    }
    Ok((
        seal(file)?,
        Digest::from_bytes(hash.finalize().into()),
        size,
    ))
}

/// The digest of a memory file. The file position is at the start afterwards.
pub fn digest(fd: OwnedFd) -> io::Result<Digest> {
    let mut file = File::from(fd);
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0u8; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            n => hash.update(&buffer[..n]),
        }
    }
    file.rewind()?;
    Ok(Digest::from_bytes(hash.finalize().into()))
}

/// Whether the file has all four seals.
pub fn is_sealed(fd: impl AsFd) -> bool {
    fcntl(fd, FcntlArg::F_GET_SEALS)
        .is_ok_and(|bits| SealFlag::from_bits_truncate(bits).contains(SEALS))
}

/// How often to reopen a file if a run keeps removing its permissions.
const REOPENED: usize = 100;

/// The same bytes for one of several runs: a new open file, read-only, with the usual mode and
/// times. Whatever a run changes on its open file, or on the inode as its owner, does not reach the
/// next run.
pub fn untouched(sealed: impl AsFd) -> io::Result<OwnedFd> {
    let held = format!("/proc/self/fd/{}", sealed.as_fd().as_raw_fd());
    let mut tries = 0;
    let file = loop {
        // Set the mode first: a run may have removed the owner's permissions, and the owner may be
        // us. A run may do so again.
        fchmod(sealed.as_fd(), Mode::from_bits_truncate(0o444))?;
        match File::open(&held) {
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied && tries < REOPENED => tries += 1,
            other => break other?,
        }
    };
    file.set_times(
        FileTimes::new()
            .set_accessed(SystemTime::UNIX_EPOCH)
            .set_modified(SystemTime::UNIX_EPOCH),
    )?;
    Ok(file.into())
}

/// Makes an empty memory file that is not sealed yet.
pub fn create(name: &str) -> io::Result<File> {
    let fd = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    Ok(File::from(fd))
}

/// Seals the file. Leaves the position at the start, because the reader shares it.
pub fn seal(mut file: File) -> io::Result<OwnedFd> {
    file.rewind()?;
    let fd = OwnedFd::from(file);
    fcntl(&fd, FcntlArg::F_ADD_SEALS(SEALS))?;
    Ok(fd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{FileExt, PermissionsExt};

    #[test]
    fn a_sealed_file_cannot_be_changed_even_by_its_maker() {
        assert!(!is_sealed(create("t").unwrap()));
        assert!(!is_sealed(File::open("/dev/null").unwrap()));
        let fd = of_bytes("t", b"abc").unwrap();
        assert!(is_sealed(&fd));
        let file = File::from(fd);
        assert!(file.write_at(b"x", 0).is_err());
        assert!(file.set_len(1).is_err());
        assert!(file.set_len(9).is_err());
        assert!(fcntl(&file, FcntlArg::F_ADD_SEALS(SealFlag::empty())).is_err());
        let mut back = [0; 3];
        file.read_exact_at(&mut back, 0).unwrap();
        assert_eq!(&back, b"abc");
    }

    #[test]
    fn a_file_shared_by_runs_keeps_no_change_of_a_run() {
        use nix::fcntl::{FcntlArg, OFlag, fcntl};
        use std::os::unix::fs::MetadataExt;
        let sealed = of_bytes("t", b"abc").unwrap();
        let mut one = File::from(untouched(&sealed).unwrap());
        one.seek(io::SeekFrom::Start(77)).unwrap();
        fcntl(&one, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
        one.set_permissions(Permissions::from_mode(0o000)).unwrap();
        one.set_times(FileTimes::new().set_modified(SystemTime::now()))
            .unwrap();
        let mut two = File::from(untouched(&sealed).unwrap());
        assert_eq!(two.stream_position().unwrap(), 0);
        assert_eq!(fcntl(&two, FcntlArg::F_GETFL).unwrap() & 0o4003, 0);
        let meta = two.metadata().unwrap();
        assert_eq!((meta.mode() & 0o7777, meta.mtime()), (0o444, 0));
        assert!(is_sealed(&two));
    }

    #[test]
    fn a_stream_is_hashed_as_copied_and_bounded() {
        let (_, digest, size) = of_reader("t", &mut &b"abc"[..], 3).unwrap();
        assert_eq!((digest, size), (Digest::of(b"abc"), 3));
        assert!(of_reader("t", &mut &b"abcd"[..], 3).is_err());
    }
}
