//! Whether the engine can be reached and takes this login for what it is to be, and a reviewer's own files.

use std::path::Path;
use std::time::Duration;

use crate::app::{Written, signing_key, vain};
use crate::ballot::people::People;
use crate::config::{Config, DeskConfig, DeskKey};
use crate::desk::engine::{Duty, Engine, EngineError};
use crate::desk::evidence::{OwnDoubt, REMEDY};
use crate::desk::{HostKey, Hosts, roles};
use crate::model::visible;
use crate::paths::{Trust, read_trusted};
use crate::tui::TerminalCaps;

use super::Check;

/// How long the engine may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The rows of `[desk]` that are about other machines and a person's own key.
pub fn checks(config: &Config) -> Vec<Check> {
    let Some(desk) = &config.desk else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    let (engine, duty) = engine(desk);
    checks.extend(engine);
    let is_host = Written::of(config, TerminalCaps::NONE)
        .is_ok_and(|written| written.in_force().iter().any(|p| !p.grant.is_empty()));
    if let (Some(Duty::Host(name)), Some(own)) = (&duty, &desk.name)
        && name != own
    {
        let found = format!("the login is the one of the host `{}`", visible(name));
        let remedy = format!("`desk.name` is `{own}`: use that host's login, or change the name");
        checks.push(Check::missing("engine", found, remedy));
    }
    checks.extend(hosts(&desk.hosts, duty.as_ref(), is_host));
    checks.extend(desk.key.as_ref().map(|key| key_of(config, desk, key)));
    if let Some(Duty::Reviewer(person, theirs)) = &duty
        && let Ok(text) = read_trusted(&desk.people, Trust::Root)
        && let Ok(people) = People::read(text.as_bytes())
    {
        let differs = roles::of_person(&people, person, theirs);
        let remedy =
            "give the same roles in people.toml of each host and by `countersign desk member add`";
        checks.extend(differs.map(|found| Check::note("roles", found, remedy)));
    }
    checks
}

/// What this host found wrong with its own log, as it wrote it down.
pub fn doubted(config: &Config) -> Option<Check> {
    const NAME: &str = "log of this host";
    config.desk.as_ref()?;
    let dir = &config.paths.state_dir;
    let key = HostKey::public_of(dir)?;
    match OwnDoubt::open(dir, key.fingerprint()) {
        Ok(None) => None,
        Ok(Some(doubt)) => {
            let silence = doubt.silence().map(|why| format!(". {why}"));
            let found = format!(
                "{}; nothing is granted here{}",
                doubt.admitted.what(),
                silence.unwrap_or_default()
            );
            Some(Check::missing(NAME, found, REMEDY))
        }
        Err(why) => Some(Check::note(NAME, why, "")),
    }
}

/// Tries the engine, and finds out what the login may do there.
fn engine(desk: &DeskConfig) -> (Option<Check>, Option<Duty>) {
    const NAME: &str = "engine";
    let engine = match Engine::of(desk) {
        Ok(None) => return (None, None),
        Ok(Some(engine)) => engine,
        Err(why) => {
            let remedy = "correct `desk.url`, `desk.password_file` or `desk.ca`";
            return (Some(Check::missing(NAME, why.to_string(), remedy)), None);
        }
    };
    let shown = engine.shown();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let asked = match runtime {
        Ok(runtime) => {
            let asked = async { tokio::time::timeout(PATIENCE, engine.me()).await };
            runtime.block_on(asked).unwrap_or_else(|_| {
                let why = format!("it did not answer within {} s", PATIENCE.as_secs());
                Err(EngineError::Unreachable(why))
            })
        }
        Err(why) => Err(EngineError::Unreachable(why.to_string())),
    };
    match asked {
        Ok(Some(duty)) => {
            let migration = crate::desk::engine::latest();
            let found =
                format!("{shown} is reached: the login {duty}; tables at migration {migration}");
            (Some(Check::ok(NAME, found)), Some(duty))
        }
        Ok(None) => {
            let found = format!("{shown} is reached, and the login is no member of the desk");
            let remedy = "its administrator: `countersign desk member add LOGIN`, with --host NAME, --person NAME or --gateway";
            (Some(Check::missing(NAME, found, remedy)), None)
        }
        Err(why) => {
            let found = format!("{shown}: {why}");
            let remedy = "`countersign desk status` says more; without the engine no vote from elsewhere arrives";
            (Some(Check::missing(NAME, found, remedy)), None)
        }
    }
}

/// The file of hosts. A seat and an agent's gateway need it; a host without it watches nobody's log.
fn hosts(path: &Path, duty: Option<&Duty>, is_host: bool) -> Option<Check> {
    const NAME: &str = "file of hosts";
    let shown = visible(&path.display().to_string()).into_owned();
    if !path.exists() {
        let found = format!("{shown} is not there");
        return match duty {
            Some(Duty::Host(_)) | None if is_host => Some(Check::note(
                NAME,
                format!("{found}: logs of other hosts are not watched"),
                "",
            )),
            Some(_) => Some(Check::missing(
                NAME,
                found,
                "a line `NAME KEY` for each host, from `desk/host_key.pub` of its state folder",
            )),
            None => None,
        };
    }
    let text = read_trusted(path, Trust::RootOrUser).map_err(|e| e.to_string());
    Some(match text.map(|text| Hosts::read(text.as_bytes())) {
        Ok(Ok(hosts)) => {
            let names: Vec<&str> = hosts.names().collect();
            Check::ok(NAME, format!("{shown}: {}", names.join(", ")))
        }
        Ok(Err(why)) => Check::missing(
            NAME,
            format!("{shown}: {why}"),
            "correct that line: nothing of any host is believed before",
        ),
        Err(why) => Check::missing(NAME, why, "nothing of any host is believed before"),
    })
}

/// The key that the person here signs with.
fn key_of(config: &Config, desk: &DeskConfig, key: &DeskKey) -> Check {
    const NAME: &str = "signing key";
    let public = match signing_key(desk) {
        Ok(Some(public)) => public,
        Ok(None) => return Check::note(NAME, "none", ""),
        Err(why) => {
            let remedy = "desk.md, \"How a vote is signed\", says what each of these means";
            return Check::missing(NAME, why, remedy);
        }
    };
    if let DeskKey::File(path) = key
        && let Err(e) = nix::unistd::access(path, nix::unistd::AccessFlags::R_OK)
    {
        let found = format!("{}: {}", path.display(), e.desc());
        let remedy = "`desk.key` is the path of the private key, with its `.pub` beside it";
        return Check::missing(NAME, found, remedy);
    }
    let shown = public.fingerprint();
    match vain::electorate(config) {
        Some(Ok(electorate)) => {
            let mut people = electorate.people();
            let whose = people.find(|one| electorate.keys(one).any(|signer| signer.key == public));
            match whose {
                Some(person) => Check::ok(NAME, format!("{shown}, listed for {person}")),
                None => Check::missing(
                    NAME,
                    format!("{shown} is not in allowed_signers of this machine, or is revoked"),
                    "its line into allowed_signers of each host; votes by another key do not count",
                ),
            }
        }
        // The files of who may vote are the hosts'.
        Some(Err(_)) | None => Check::ok(NAME, format!("{shown}; hosts say whether they list it")),
    }
}
