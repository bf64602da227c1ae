//! `desk.url`: which servers, which user, and what a connection needs. Options that the driver does not know are named with what is
//! right instead, for none may be dropped silently.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use crate::model::{did_you_mean, visible};

/// Seconds for each address of a server, unless the URL says otherwise.
const CONNECT_S: u64 = 4;

/// Where the engine is. The password is in `config`.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    /// The folder of a Unix socket; `None` for TCP, which is by TLS always.
    pub(super) unix: Option<PathBuf>,
}

/// What the driver takes as it is.
const TAKEN: [&str; 16] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "port",
    "sslmode",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// What is refused, and what is right.
const REFUSED: [(&str, &str); 12] = [
    (
        "password",
        "write it into a file that only you can read, and name that by `desk.password_file`",
    ),
    (
        "passfile",
        "name a file that has nothing but the password by `desk.password_file`",
    ),
    (
        "service",
        "write its servers, user and database into the URL",
    ),
    (
        "options",
        "poolers refuse it; the limits are the login's, set by `countersign desk member add`",
    ),
    (
        "statement_timeout",
        "it is the login's, set by `countersign desk member add`",
    ),
    ("sslrootcert", "name the file by `desk.ca`"),
    ("sslcert", "logins have passwords here; leave it out"),
    ("sslkey", "logins have passwords here; leave it out"),
    ("sslcrl", "leave it out"),
    ("sslnegotiation", "leave it out"),
    (
        "ssl_min_protocol_version",
        "TLS 1.3 is the only version in any case; leave it out",
    ),
    (
        "gssencmode",
        "TLS is what protects the connection; leave it out",
    ),
];

impl Address {
    /// # Errors
    /// What is wrong with the URL and what would be right, in words that do not have the URL in them.
    pub fn parse(url: &str, password: Option<&str>) -> Result<Self, String> {
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let mut options = Vec::new();
        let mut off = false;
        let mut writes = true;
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            known(name)?;
            match (name, value) {
                ("sslmode", "require" | "verify-full") => {}
                ("sslmode", "disable") => off = true,
                ("sslmode", _) => {
                    return Err(
                        "`sslmode` is verify-full, which it is without it too: certificates and names are always checked. \
                         For a Unix socket it may be disable"
                            .to_owned(),
                    );
                }
                ("target_session_attrs", "read-write" | "primary") => {}
                ("target_session_attrs", "any") => writes = false,
                ("target_session_attrs", _) => {
                    return Err(
                        "`target_session_attrs` is read-write, as nothing could be voted on a server that takes no writes; \
                         leave it out"
                            .to_owned(),
                    );
                }
                _ => options.push(option),
            }
        }
        let mut plain = place.to_owned();
        if !options.is_empty() {
            plain.push('?');
            plain.push_str(&options.join("&"));
        }
        // The driver's words may have a part of the URL in them.
        let mut config: Config = plain.parse().map_err(|e: tokio_postgres::Error| {
            format!("{}", visible(&super::error::cut(&whole(&e))))
        })?;
        if config.get_password().is_some() {
            return Err(format!("it has a password; {}", REFUSED[0].1));
        }
        if config.get_user().is_none() {
            return Err("it names no user, as host_lab1@ before the server".to_owned());
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err("it names no database, as /desk behind the server".to_owned());
        }
        let unix: Vec<PathBuf> = config
            .get_hosts()
            .iter()
            .filter_map(|host| match host {
                Host::Unix(folder) => Some(folder.clone()),
                Host::Tcp(_) => None,
            })
            .collect();
        let all = config.get_hosts().len().max(config.get_hostaddrs().len());
        let unix = match unix.as_slice() {
            [] if all == 0 => return Err("it names no server".to_owned()),
            [] => None,
            [one] if all == 1 => Some(one.clone()),
            _ => return Err("a Unix socket stands alone; leave the other servers out".to_owned()),
        };
        if config.get_hosts().is_empty() {
            return Err(
                "`hostaddr` needs `host` beside it, the name that the certificate has".to_owned(),
            );
        }
        match unix {
            None if off => {
                return Err(
                    "`sslmode=disable` is for Unix sockets only: what crosses a network goes by TLS. Leave it out"
                        .to_owned(),
                );
            }
            None => config.ssl_mode(SslMode::Require),
            // PostgreSQL has no TLS there.
            Some(_) => config.ssl_mode(SslMode::Disable),
        };
        if writes && unix.is_none() {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(CONNECT_S));
        }
        if config.get_application_name().is_none() {
            config.application_name("countersign");
        }
        if let Some(password) = password {
            config.password(password);
        }
        Ok(Self { config, unix })
    }

    /// Whether connections are by TLS: all but those of a Unix socket.
    pub fn is_tls(&self) -> bool {
        self.unix.is_none()
    }

    /// The user and the servers, for people.
    pub fn shown(&self) -> String {
        let hosts: Vec<String> = self
            .config
            .get_hosts()
            .iter()
            .map(|host| match host {
                Host::Tcp(name) => name.clone(),
                Host::Unix(folder) => folder.display().to_string(),
            })
            .collect();
        let user = self.config.get_user().unwrap_or_default();
        let database = self.config.get_dbname().unwrap_or_default();
        visible(&format!(
            "{user} at {}, database {database}",
            hosts.join(", ")
        ))
        .into_owned()
    }
}

fn known(name: &str) -> Result<(), String> {
    if TAKEN.contains(&name) {
        return Ok(());
    }
    if let Some((_, right)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Err(format!("`{name}` does not belong there: {right}"));
    }
    Err(format!(
        "unknown option `{}`{}; the options are {}",
        super::error::cut(name),
        did_you_mean(name, TAKEN),
        TAKEN.join(", ")
    ))
}

fn whole(e: &tokio_postgres::Error) -> String {
    match std::error::Error::source(e) {
        Some(source) => format!("{e}: {source}"),
        None => e.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_url_may_not_say_is_named_with_what_is_right() {
        for (url, words) in [
            ("postgresql://db/desk", "names no user"),
            ("postgresql://h@db", "names no database"),
            ("postgresql://h@db/desk?sslmode=prefer", "is verify-full"),
            (
                "postgresql://h@db/desk?sslmode=disable",
                "for Unix sockets only",
            ),
            ("postgresql://h@a,%2Frun/desk", "a Unix socket stands alone"),
            ("postgresql://h@db/desk?sslrootcert=/ca.pem", "`desk.ca`"),
            ("postgresql://h@db/desk?options=-c%20x", "poolers refuse it"),
            (
                "postgresql://h@db/desk?conect_timeout=3",
                "did you mean `connect_timeout`?",
            ),
            (
                "postgresql://h@db/desk?target_session_attrs=standby",
                "takes no writes",
            ),
            ("postgresql://h:pw@db/desk", "it has a password"),
            ("postgresql://h@db:x/desk", "port"),
            ("postgresql://h@db/desk?a\u{1b}b", "unknown option"),
            ("postgresql://h@/desk?hostaddr=10.0.0.1", "needs `host`"),
        ] {
            let error = Address::parse(url, None).map(|_| ()).unwrap_err();
            assert!(error.contains(words), "{url}: {error}");
            assert!(
                !error.contains("pw@") && !error.contains('\u{1b}'),
                "{error}"
            );
        }
    }

    #[test]
    fn a_network_is_crossed_by_tls_whatever_the_url_says() {
        for url in [
            "postgresql://h@db/desk",
            "postgres://h@a:5433,b/desk?sslmode=verify-full&target_session_attrs=primary",
            "postgresql://h@db/desk?sslmode=require&channel_binding=require",
        ] {
            let address = Address::parse(url, Some("secret")).unwrap();
            assert!(address.is_tls(), "{url}");
            assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
            let attrs = address.config.get_target_session_attrs();
            assert_eq!(attrs, TargetSessionAttrs::ReadWrite);
            assert!(!address.shown().contains("secret"));
        }
        let local =
            Address::parse("postgresql://h@%2Frun%2Fpg/desk?sslmode=disable", None).unwrap();
        assert!(!local.is_tls());
        assert_eq!(local.unix, Some("/run/pg".into()));
    }
}
