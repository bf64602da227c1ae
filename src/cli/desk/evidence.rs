//! What `countersign desk status` says about the hosts' logs.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::config::Config;
use crate::desk::HostKey;
use crate::desk::engine::{CheckpointRow, Engine, EngineError, Standing};
use crate::desk::evidence::{Book, Chain, Gathered, OwnDoubt, read_seen};
use crate::desk::hosts::Hosts;
use crate::error::Failure;
use crate::model::visible;
use crate::paths::{Trust, read_trusted};

/// A host that says nothing for this long is called silent: each signs a checkpoint far more often while its dashboard is open.
const SILENT_S: i64 = 15 * 60;

/// The file of hosts of a configuration.
///
/// # Errors
/// Why it cannot be used.
pub(in crate::cli) fn hosts(config: &Config) -> Result<Hosts, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::usage(format!("[desk] hosts: {e}"));
    let Some(desk) = &config.desk else {
        return Err(Failure::usage(
            "config.toml has no [desk]: `hosts` there names the file that says which key is which host's",
        ));
    };
    let text = read_trusted(&desk.hosts, Trust::RootOrUser).map_err(|e| usage(&e))?;
    Hosts::read(text.as_bytes()).map_err(|e| usage(&e))
}

/// A line for each host, and whether nothing is wrong with any of them.
pub(super) async fn lines(
    engine: &Engine,
    config: &Config,
    standing: &Standing,
) -> (Vec<(&'static str, String)>, bool) {
    let is_read = standing
        .counts
        .iter()
        .any(|(name, _)| *name == "checkpoints");
    let book = match (is_read, hosts(config)) {
        (false, _) => None,
        (true, Err(why)) => Some(Err(why.to_string())),
        (true, Ok(hosts)) => Some(read(engine, hosts).await),
    };
    let mut lines = Vec::new();
    let chains = match &book {
        Some(Ok(book)) => book.chains.clone(),
        _ => BTreeMap::new(),
    };
    let mut names: Vec<String> = standing
        .hosts
        .iter()
        .map(|host| host.host.clone())
        .collect();
    names.extend(chains.keys().cloned());
    names.sort();
    names.dedup();
    for name in names {
        let seen = standing.hosts.iter().find(|host| host.host == name);
        let last = seen.and_then(|host| host.last_statement).map_or_else(
            || "no statement yet".to_owned(),
            |at| format!("last statement {}", seconds(at)),
        );
        let log = match (&book, chains.get(&name)) {
            (None, _) => String::new(),
            (Some(Err(_)), _) => String::new(),
            (Some(Ok(_)), Some(chain)) => format!("; {}", checkpoint(chain)),
            (Some(Ok(_)), None) => "; not in the file of hosts".to_owned(),
        };
        let silent = match seen {
            Some(host) if host.silent_s >= SILENT_S => {
                let since = Timestamp::now().as_second().saturating_sub(host.silent_s);
                let since = Timestamp::from_second(since).map_or_else(|_| String::new(), seconds);
                format!("; SILENT since {since}")
            }
            None => "; nothing of it is here".to_owned(),
            Some(_) => String::new(),
        };
        lines.push(("host", format!("{}: {last}{log}{silent}", visible(&name))));
    }
    let mut faults: Vec<String> = match book {
        None => Vec::new(),
        Some(Err(why)) => {
            lines.push(("checkpoints", format!("not checked: {why}")));
            Vec::new()
        }
        Some(Ok(book)) => {
            let faults = book.faults.iter();
            faults
                .map(|fault| format!("{}: {}", fault.host, visible(&fault.what)))
                .collect()
        }
    };
    // What this machine's own host saw, which the engine cannot have lost.
    let seen = read_seen(&config.paths.state_dir).unwrap_or_default();
    for (host, seen) in seen.0 {
        let admitted = seen.admitted.map(|said| said.to_string());
        let said = seen.doubt.or(admitted);
        let said = said.map(|why| format!("{}: {}", visible(&host), visible(&why)));
        faults.extend(said.filter(|said| !faults.contains(said)));
    }
    let own = HostKey::public_of(&config.paths.state_dir)
        .and_then(|key| OwnDoubt::open(&config.paths.state_dir, key.fingerprint()).ok()?);
    if let Some(doubt) = own {
        faults.push(format!("this host: {}", doubt.admitted.here()));
        faults.extend(doubt.silence().map(|why| format!("this host: {why}")));
    }
    let sound = faults.is_empty();
    lines.extend(faults.into_iter().map(|fault| ("WARNING", fault)));
    (lines, sound)
}

async fn read(engine: &Engine, hosts: Hosts) -> Result<Book, String> {
    let names: Vec<String> = hosts.names().map(str::to_owned).collect();
    let mut book = Book::new(hosts);
    let failed = |e: EngineError| e.to_string();
    let mut newest: BTreeMap<String, Vec<CheckpointRow>> = BTreeMap::new();
    for row in engine.newest_checkpoints(&names).await.map_err(failed)? {
        newest.entry(row.host.clone()).or_default().push(row);
    }
    for (host, rows) in newest {
        let Some(key) = book.hosts().key(&host).cloned() else {
            book.unknown(&host);
            continue;
        };
        let gathered = Gathered::of(engine, &host, &key, rows).await;
        book.gathered(&host, &gathered.map_err(failed)?);
    }
    let rows = engine.newest_cosignatures(&names).await;
    for row in rows.map_err(failed)? {
        book.cosignature(row);
    }
    book.close(false);
    Ok(book)
}

/// `checkpoint of 64 records, 3 min old, signed by lab-2`.
pub(in crate::cli) fn checkpoint(chain: &Chain) -> String {
    let Some((link, point)) = chain.newest() else {
        return "no checkpoint yet".to_owned();
    };
    let by: Vec<String> = chain.cosigners(link).into_iter().collect();
    let by = match by.as_slice() {
        [] => "signed by no other host".to_owned(),
        by => format!("signed by {}", by.join(", ")),
    };
    format!("checkpoint of {} records, {}, {by}", link.0, age(point.at))
}

fn age(at: Timestamp) -> String {
    match Timestamp::now().as_second() - at.as_second() {
        s @ ..0 => format!("{} s ahead of this clock", -s),
        s @ 0..120 => format!("{s} s old"),
        s @ 120..7_200 => format!("{} min old", s / 60),
        s @ 7_200..172_800 => format!("{} h old", s / 3_600),
        s => format!("{} days old", s / 86_400),
    }
}

fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
