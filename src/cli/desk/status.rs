//! `countersign desk status`.

use crate::config::Config;
use crate::desk::engine::{Delivery, Engine, Listener, POLL_S, Standing, latest};
use crate::error::Failure;

use super::super::out::print;
use super::{evidence, failed};

/// Prints how the engine stands; 0 if a host or a reviewer can work with it, and no host's log is doubted.
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
    let mut sound = true;
    if usable {
        let more;
        (more, sound) = evidence::lines(engine, config, &standing).await;
        lines.extend(more);
    }
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
        None => Ok(u8::from(standing.free || !sound)),
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
    lines
}
