//! `countersign audit erase`: shows what of a proposal goes, asks why on the terminal, erases.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};

use nix::sys::termios::{FlushArg, tcflush};

use crate::app::reviewer;
use crate::audit::{Erasure, ErasureError, ErasureOrder, Log};
use crate::config::{self, Surroundings};
use crate::error::Failure;
use crate::model::{ErasedPart, grouped, visible};
use crate::secrets::Secrets;

use super::super::Globals;
use super::super::out::{print, show, tell};
use super::export::count;
use super::repair::{agreed, terminal};
use super::show::resolve;
use super::{answers, failed, prune, sign, whole};

/// There is nothing that could answer for a person.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposal's id, or its beginning or end (at least four digits)
    id: String,
    /// Its code, as proposed and as edited, and its kept run
    #[arg(long)]
    code: bool,
    /// What the run printed, and its result
    #[arg(long)]
    output: bool,
    /// The files that the run left, and what the agent brought
    #[arg(long)]
    files: bool,
    /// Also for other proposals that have the same contents
    #[arg(long)]
    everywhere: bool,
    /// Say what would be erased, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Longest reason, in characters.
const REASON: usize = 500;

pub fn run(args: &Args, log: &Log, globals: &Globals) -> Result<u8, Failure> {
    let around = Surroundings::of_process().map_err(|e| Failure::usage(e.to_string()))?;
    let config = config::load_in(&globals.options(), &around);
    let config = config.map_err(|e| Failure::usage(e.to_string()))?;
    let mut answers = answers(log, "erase")?;
    let id = resolve(&args.id, &mut answers)?;
    // What is erased is read from the log.
    whole(&answers.faults().of_log())?;
    drop(answers);
    let order = ErasureOrder {
        id,
        parts: parts(args),
        everywhere: args.everywhere,
        held: prune::held(&config.audit.hold, Some(log))?,
    };
    let erasure = log.erasure(&order).map_err(|e| match e {
        ErasureError::Log(e) => failed(&e),
        e => Failure::general(format!("nothing was erased: {e}")),
    })?;
    let page = page(&erasure);
    if args.dry_run {
        print(|out| out.write_all(page.as_bytes()))?;
        return Ok(0);
    }
    let mut terminal = terminal("nothing was erased: erase")?;
    let asked = |e: io::Error| Failure::general(format!("nothing was erased: the terminal: {e}"));
    show(&mut terminal, &page).map_err(asked)?;
    let Some(reason) = reason(&mut terminal).map_err(asked)? else {
        return Err(Failure::general(
            "nothing was erased: the log keeps a reason",
        ));
    };
    if !agreed(&mut terminal, "erase it").map_err(asked)? {
        return Err(Failure::general("nothing was erased"));
    }
    let erasure = erasure.redacts(Secrets::here(config.audit.secrets.iter().cloned()));
    let done = erasure.carry_out(&reason, &reviewer::here());
    done.map_err(|e| failed(&e))?;
    sign::now(&config, &config.paths.state_dir);
    tell("erased; the log says so, and `audit verify` goes on as before");
    Ok(0)
}

fn parts(args: &Args) -> BTreeSet<ErasedPart> {
    let all = !(args.code || args.output || args.files);
    let chosen = [
        (args.code, ErasedPart::Code),
        (args.output, ErasedPart::Output),
        (args.files, ErasedPart::Files),
    ];
    let chosen = chosen.into_iter().filter(|(chosen, _)| *chosen || all);
    chosen.map(|(_, part)| part).collect()
}

/// Everything that a person must see before.
fn page(erasure: &Erasure) -> String {
    const SHOWN: usize = 40;
    let mut text = format!(
        "goes     {}, {} bytes\n",
        count(erasure.contents, "content"),
        grouped(erasure.bytes)
    );
    let mut line = |label: &str, words: &str| text.push_str(&format!("{label:<9}{words}\n"));
    for (id, contents) in erasure.each.iter().take(SHOWN) {
        let mut parts: Vec<&str> = contents.iter().map(|c| c.part.as_str()).collect();
        parts.dedup();
        line("of", &format!("{id}: {}", parts.join(", ")));
    }
    match erasure.each.len().saturating_sub(SHOWN) {
        0 => {}
        more => line("", &format!("and {more} more proposals")),
    }
    for path in &erasure.kept {
        line("goes", &visible(&path.display().to_string()));
    }
    line(
        "stays",
        "the records: titles, reasons, findings, messages of errors, names, sizes and digests,",
    );
    line(
        "",
        "from which a short content can be guessed; copies, exports and backups elsewhere",
    );
    for path in &erasure.quarantined {
        let path = path.display().to_string();
        line(
            "stays",
            &format!("{}, which has some of it", visible(&path)),
        );
    }
    text
}

/// Asks why; `None` without an answer. Input typed before the question must not answer it.
fn reason(terminal: &mut File) -> io::Result<Option<String>> {
    tcflush(&*terminal, FlushArg::TCIFLUSH)?;
    write!(terminal, "\nwhy (the log keeps it): ")?;
    terminal.flush()?;
    let mut answer = String::new();
    BufReader::new(&*terminal).read_line(&mut answer)?;
    let reason: String = answer.trim().chars().take(REASON).collect();
    Ok(Some(reason).filter(|reason| !reason.is_empty()))
}
