//! `countersign audit desk`: the log of all hosts at once, as far as their signatures prove it.

mod read;

use std::io::Write;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::desk::evidence::{Book, Fault};
use crate::error::Failure;
use crate::model::visible;

use super::super::out::{print, print_json};
use super::super::{Globals, desk};
use super::list::seconds;
use read::{Asked, Proposal};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this host's proposals and checkpoints
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    server: desk::Server,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// 0 if everything that was read holds, 1 if not, 2 if nothing could be read.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let config = globals.load()?;
    let engine = args.server.engine(&config)?;
    let hosts = desk::hosts(&config)?;
    if let Some(name) = &args.host
        && hosts.key(name).is_none()
    {
        let known: Vec<&str> = hosts.names().collect();
        return Err(Failure::usage(format!(
            "--host: `{name}` is not in the file of hosts, which names {}",
            known.join(", ")
        )));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::general(format!("no runtime can be started: {e}")))?;
    let mut asked = runtime
        .block_on(Asked::read(&engine, hosts))
        .map_err(|e| Failure::with_code(2, e.to_string()).and(engine.shown()))?;
    asked.only(args.host.as_deref());
    match args.format {
        Format::Text => print(|out| text(out, &asked))?,
        Format::Json => print_json(&format!("{:#}", whole(&asked)))?,
    }
    Ok(u8::from(!asked.book.faults.is_empty()))
}

fn text(out: &mut dyn Write, asked: &Asked) -> std::io::Result<()> {
    for proposal in &asked.proposals {
        writeln!(out, "{}", row(proposal, &asked.book))?;
    }
    for (host, chain) in &asked.book.chains {
        let doubted = if chain.is_doubted() { "DOUBTED, " } else { "" };
        writeln!(out, "host {host}: {doubted}{}", desk::checkpoint(chain))?;
    }
    for Fault { host, what } in &asked.book.faults {
        writeln!(out, "NOT BELIEVED: {host}: {}", visible(what))?;
    }
    let (all, faults) = (asked.proposals.len(), asked.book.faults.len());
    let is_doubted = |p: &&Proposal| asked.book.is_doubted(&p.host);
    let (doubted, others): (Vec<&Proposal>, Vec<&Proposal>) =
        asked.proposals.iter().partition(is_doubted);
    let proved = others.iter().filter(|p| p.proved.is_some()).count();
    let hosts = asked.book.chains.len();
    let doubted = match doubted.len() {
        0 => String::new(),
        n => format!(", {n} of hosts whose log is doubted"),
    };
    writeln!(
        out,
        "{all} proposals of {hosts} hosts, {proved} proved{doubted}"
    )?;
    match faults {
        0 => writeln!(out, "everything that was read holds"),
        n => writeln!(out, "damaged: {n} of what was read does not hold"),
    }
}

/// One line, as `audit list` prints one.
fn row(proposal: &Proposal, book: &Book) -> String {
    let votes: Vec<String> = proposal
        .votes
        .iter()
        .map(|(voter, vote)| format!("{voter} {}", vote.as_str()))
        .collect();
    let votes = match votes.as_slice() {
        [] => "no votes told".to_owned(),
        votes => votes.join(", "),
    };
    let proof = match &proposal.proved {
        None if proposal.is_final() => "not proved".to_owned(),
        None => "not ended".to_owned(),
        Some(proved) => {
            let by = cosigners(proposal, book);
            let by = match by.as_slice() {
                [] => "signed by no other host".to_owned(),
                by => format!("signed by {}", by.join(", ")),
            };
            let doubted = match book.is_doubted(&proposal.host) {
                true => "DOUBTED, ",
                false => "",
            };
            format!(
                "{doubted}record {} of {}, {by}",
                proved.record.seq, proved.checkpoint.0
            )
        }
    };
    format!(
        "{}  {}  {}  {}  {}  {votes}  {proof}",
        seconds(proposal.at),
        proposal.host,
        proposal.id,
        visible(&proposal.profile),
        proposal.state(),
    )
}

fn cosigners(proposal: &Proposal, book: &Book) -> Vec<String> {
    let link = proposal.proved.as_ref().map(|proved| proved.checkpoint);
    let chain = book.chains.get(&proposal.host);
    let all = link.zip(chain).map(|(link, chain)| chain.cosigners(link));
    all.into_iter().flatten().collect()
}

fn whole(asked: &Asked) -> Value {
    let book = &asked.book;
    let proposals = asked.proposals.iter().map(|proposal| {
        let votes = proposal.votes.iter();
        let votes = votes.map(|(voter, vote)| json!({"voter": voter, "vote": vote.as_str()}));
        json!({
            "host": proposal.host,
            "id": proposal.id,
            "proposed_at": proposal.at,
            "profile": proposal.profile,
            "versions": proposal.versions,
            "state": proposal.state(),
            "votes": votes.collect::<Vec<_>>(),
            "doubted": book.is_doubted(&proposal.host),
            "proof": proposal.proved.as_ref().map(|proved| json!({
                "seq": proved.record.seq,
                "at": proved.record.ts,
                "records": proved.checkpoint.0,
                "root": proved.checkpoint.1,
                "signed_by": cosigners(proposal, book),
            })),
        })
    });
    let hosts = book.chains.iter().map(|(host, chain)| {
        let newest = chain.newest().map(|(link, point)| {
            json!({
                "records": link.0,
                "root": link.1,
                "at": point.at,
                "signed_by": chain.cosigners(link),
            })
        });
        json!({"host": host, "doubted": chain.is_doubted(), "checkpoint": newest})
    });
    let faults = book.faults.iter();
    let faults = faults.map(|fault| json!({"host": fault.host, "what": fault.what}));
    json!({
        "consistent": book.faults.is_empty(),
        "proposals": proposals.collect::<Vec<_>>(),
        "hosts": hosts.collect::<Vec<_>>(),
        "not_believed": faults.collect::<Vec<_>>(),
    })
}
