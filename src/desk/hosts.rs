//! A reviewer's file of hosts: which key is which host's. There is no trust at first sight.

use std::collections::BTreeMap;

use crate::ballot::{Key, signed_by};
use crate::model::{HOST_NAMESPACE, visible};

/// The most bytes of the file.
const FILE_MAX: usize = 256 * 1024;

/// Why the file cannot be used, with the line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hosts:{line}: {message}")]
pub struct HostsError {
    pub line: usize,
    pub message: String,
}

/// Keys by the hosts' names, and the lines where they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(BTreeMap<String, (Key, usize)>);

impl Hosts {
    /// Reads `NAME ssh-ed25519 AAAA…` lines. Empty lines and those that begin with `#` say nothing.
    ///
    /// # Errors
    /// The first line that says something else, a name that comes twice, or a key of two hosts.
    pub fn read(bytes: &[u8]) -> Result<Self, HostsError> {
        let says = |line, message: String| Err(HostsError { line, message });
        if bytes.len() > FILE_MAX {
            return says(1, format!("more than {FILE_MAX} bytes"));
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return says(1, "the file is not UTF-8".to_owned());
        };
        let mut hosts = Self::default();
        for (number, line) in text.lines().enumerate() {
            let (number, line) = (number + 1, line.trim());
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, key) = line.split_once([' ', '\t']).unwrap_or((line, ""));
            if !is_host_name(name) {
                return says(
                    number,
                    format!(
                        "`{}` is no name of a host: 1 to 64 of A-Z a-z 0-9 . _ -",
                        visible(name)
                    ),
                );
            }
            let key = match Key::read(key.trim()) {
                Ok(key) => key,
                Err(why) => {
                    return says(
                        number,
                        format!("{why}; a line is NAME and the host's `host_key.pub`"),
                    );
                }
            };
            if hosts.0.contains_key(name) {
                return says(number, format!("`{name}` has a line already"));
            }
            if let Some(other) = hosts.of_key(&key) {
                return says(number, format!("the key is `{other}`'s already"));
            }
            hosts.0.insert(name.to_owned(), (key, number));
        }
        Ok(hosts)
    }

    pub fn key(&self, host: &str) -> Option<&Key> {
        self.0.get(host).map(|(key, _)| key)
    }

    /// The line that names the host's key, counted from 1.
    pub fn line(&self, host: &str) -> Option<usize> {
        self.0.get(host).map(|(_, line)| *line)
    }

    /// Whose key it is.
    pub fn of_key(&self, key: &Key) -> Option<&str> {
        let found = self.0.iter().find(|(_, (known, _))| known == key);
        found.map(|(name, _)| name.as_str())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that the host with this name signed these bytes.
    ///
    /// # Errors
    /// A description, for the reviewer.
    pub fn check(&self, host: &str, bytes: &[u8], signature: &str) -> Result<(), String> {
        let Some((key, line)) = self.0.get(host) else {
            return Err(format!("`{host}` is not in the file of hosts"));
        };
        signed_by(key, signature, HOST_NAMESPACE, bytes)
            .map(|_| ())
            .map_err(|why| {
                format!("`{host}` did not sign this with the key in line {line} of the file of hosts: {why}")
            })
    }
}

/// Whether a host can have this name.
pub fn is_host_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::HostKey;

    #[test]
    fn a_line_is_a_name_and_a_key_and_anything_else_refuses_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let key = HostKey::open_or_make(dir.path()).unwrap();
        let line = key.public().line();
        let good = format!("# ours\n\nlab-1 {line} made in May\n");
        let hosts = Hosts::read(good.as_bytes()).unwrap();
        assert_eq!(hosts.names().collect::<Vec<_>>(), ["lab-1"]);
        let signature = key.sign(b"x").unwrap();
        assert_eq!(hosts.check("lab-1", b"x", &signature), Ok(()));
        assert!(hosts.check("lab-1", b"y", &signature).is_err());
        let unknown = hosts.check("lab-2", b"x", &signature).unwrap_err();
        assert!(unknown.contains("not in the file of hosts"), "{unknown}");
        for (text, number, words) in [
            (format!("lab-1 {line}\nlab-1 {line}\n"), 2, "a line already"),
            (
                format!("lab-1 {line}\nlab-2 {line}\n"),
                2,
                "`lab-1`'s already",
            ),
            ("lab-1\n".to_owned(), 1, "host_key.pub"),
            (format!("\nlab/1 {line}\n"), 2, "no name of a host"),
            ("lab-1 ssh-rsa AAAA\n".to_owned(), 1, "ssh-rsa"),
        ] {
            let error = Hosts::read(text.as_bytes()).unwrap_err();
            assert_eq!(error.line, number, "{text}: {error}");
            assert!(error.message.contains(words), "{text}: {error}");
        }
        assert!(Hosts::read(b"\xff").is_err());
    }
}
