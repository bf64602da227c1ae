//! `countersign desk status`.

use crate::config::Config;
use crate::desk::engine::{Delivery, Engine, Listener, POLL_S, Standing, latest};
use crate::error::Failure;
use crate::model::visible;

use super::super::out::print;
use super::failed;

/// A host that says nothing for this long is called silent: each signs a checkpoint far more often while its dashboard is open.
const SILENT_S: i64 = 15 * 60;

/// Prints how the engine stands; 0 if a host or a reviewer can work with it.
pub(super) async fn run(engine: &Engine, config: &Config) -> Result<u8, Failure> {
    let address = engine.shown();
    let standing = match engine.standing().await {
        Ok(standing) => standing,
        Err(e) => return Err(failed(&e).and(address)),
    };
    let usable = standing.migration.is_none();
    let delivery = match usable {
        true => Some(delivery(engine, config).await),
        false => None,
    };
    let mut lines = lines(engine, &standing, delivery);
    if usable && let Ok(Some(duty)) = engine.me().await {
        lines.push(("you", duty.to_string()));
    }
    print(|out| {
        for (name, line) in &lines {
            writeln!(out, "{name:<12}{line}")?;
        }
        Ok(())
    })?;
    match standing.migration {
        Some(e) => Err(failed(&e)),
        None => Ok(u8::from(standing.free)),
    }
}

async fn delivery(engine: &Engine, config: &Config) -> Delivery {
    let name = config.desk.as_ref().and_then(|desk| desk.name.as_deref());
    let mut listener = match name {
        Some(host) => Listener::for_host(engine, host),
        None => Listener::for_people(engine),
    };
    listener.known().await
}

fn lines(
    engine: &Engine,
    standing: &Standing,
    delivery: Option<Delivery>,
) -> Vec<(&'static str, String)> {
    let wire = match engine.is_tls() {
        true => "TLS 1.3",
        false => "a Unix socket, without TLS",
    };
    let mut lines = vec![
        ("engine", engine.shown()),
        // Debian's version has its package behind it.
        ("server", {
            let version = standing.version.split(' ').next().unwrap_or_default();
            format!("PostgreSQL {version}, {wire}")
        }),
    ];
    let groups = match standing.groups.as_slice() {
        // It is in all of them.
        _ if standing.free => "an administrator".to_owned(),
        [] => "no member of the desk".to_owned(),
        groups => groups.join(", "),
    };
    lines.push(("login", format!("{}: {groups}", standing.login)));
    if standing.free {
        lines.push((
            "WARNING",
            format!(
                "{} is a superuser or has BYPASSRLS: no rule of the desk binds it. Hosts and reviewers need logins of their own",
                standing.login
            ),
        ));
    }
    if standing.migration.is_some() {
        return lines;
    }
    lines.push(("tables", format!("at migration {}", latest())));
    let news = match delivery {
        Some(Delivery::Notified) => "at once, by LISTEN".to_owned(),
        _ => format!(
            "every {POLL_S} s: the engine does not notify, as behind a pooler in transaction mode"
        ),
    };
    lines.push(("news", news));
    let counts: Vec<String> = standing
        .counts
        .iter()
        .map(|(name, n)| match *n > Standing::COUNT_MAX {
            true => format!("{name} more than {}", Standing::COUNT_MAX),
            false => format!("{name} {n}"),
        })
        .collect();
    if !counts.is_empty() {
        lines.push(("it reads", counts.join(", ")));
    }
    for host in &standing.hosts {
        let name = visible(&host.host);
        let last = host.last_statement.map_or_else(
            || "no statement yet".to_owned(),
            |at| format!("last statement {}", at.strftime("%Y-%m-%dT%H:%M:%SZ")),
        );
        let silent = match host.silent_s >= SILENT_S {
            true => format!(", SILENT for {} min", host.silent_s / 60),
            false => String::new(),
        };
        lines.push(("host", format!("{name}: {last}{silent}")));
    }
    lines
}
