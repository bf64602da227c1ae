//! `countersign audit repair`: shows what repairing a damaged log would lose, asks on the terminal,
//! repairs.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;

use nix::sys::termios::{FlushArg, tcflush};

use crate::app::reviewer;
use crate::audit::{Faults, Log, Loss, LostRecord, Store};
use crate::config;
use crate::error::Failure;
use crate::model::{State, visible};
use crate::secrets::Secrets;

use super::super::Globals;
use super::super::out::{print, show, tell};
use super::list::{claim, seconds};
use super::{anchors, failed};

/// There is nothing that could answer for a person.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Say what a repair would lose, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    anchors: anchors::Place,
}

/// How many records of one file are shown individually.
const SHOWN: usize = 40;

/// Runs the command and returns the exit code: 0 if the dashboard can now start on the log, 1 if it needs a repair.
pub fn run(args: &Args, log: &Log, globals: &Globals, state_dir: &Path) -> Result<u8, Failure> {
    let Some(repair) = log.repair().map_err(|e| failed(&e))? else {
        return nothing(&log.summary().map_err(|e| failed(&e))?.faults);
    };
    let store = args.anchors.store(globals, state_dir);
    let signed = contradicted(&store, repair.loss());
    let page = page(repair.loss()) + signed.as_deref().unwrap_or_default();
    if args.dry_run {
        print(|out| out.write_all(page.as_bytes()))?;
        return Ok(1);
    }
    let config = config::load(&globals.options());
    let config = config.map_err(|e| Failure::usage(format!("nothing was changed: {e}")))?;
    let mut terminal = terminal("nothing was changed: repair")?;
    let asked = |e: io::Error| Failure::general(format!("nothing was changed: the terminal: {e}"));
    show(&mut terminal, &page).map_err(asked)?;
    if !agreed(&mut terminal, "repair it").map_err(asked)? {
        return Err(Failure::general("nothing was changed"));
    }
    repair
        .redacts(Secrets::here(config.audit.secrets.iter().cloned()))
        .carry_out(&reviewer::here())
        .map_err(|e| failed(&e))?;
    tell(
        "the log goes on; what was set aside is in `quarantine` in the state folder, and the log says so",
    );
    Ok(0)
}

/// What a person must do with checkpoints of records that a repair loses: the log contradicts them from then on.
fn contradicted(store: &Store, loss: &Loss) -> Option<String> {
    let key = store.key().ok()??;
    let size = store.latest(&key).ok()??.checkpoint.size;
    let stays = loss.stays_through + loss.put_back;
    (size > stays).then(|| {
        let dir = store.dir().display().to_string();
        let dir = visible(&dir);
        format!(
            "signed   through seq {size}: after the repair the log is not the one that was signed, and nothing is granted.\n\
             \x20        Keep the checkpoints as evidence and let new ones be made: mv '{dir}' '{dir}-before-repair'\n"
        )
    })
}

/// The result when no repair would change anything.
fn nothing(faults: &Faults) -> Result<u8, Failure> {
    if let Some(damage) = &faults.chain {
        tell(&format!(
            "there is nothing to repair: the next start of the dashboard sets aside what a crash left ({})",
            visible(&damage.to_string())
        ));
        return Ok(0);
    }
    match faults.first() {
        None => {
            tell("there is nothing to repair: the log is sound");
            Ok(0)
        }
        Some(damage) => Err(Failure::general(format!(
            "no repair brings this back: {damage}. The log goes on with it, and everybody who reads it names \
             it; only a copy of the file can be put back"
        ))),
    }
}

/// Everything a person must see before the repair. No text of the log reaches the terminal
/// unescaped.
fn page(loss: &Loss) -> String {
    let mut text = String::new();
    let mut line = |words: &str| {
        text.push_str(words);
        text.push('\n');
    };
    line(&format!("damaged  {}", visible(&loss.damage.to_string())));
    line(&match loss.stays_through {
        0 => "stays    no record".to_owned(),
        seq => format!("stays    every record through seq {seq}"),
    });
    if loss.put_back > 0 {
        line(&format!(
            "         and {} more, which the journal has",
            loss.put_back
        ));
    }
    for (id, state) in loss.open.iter().take(SHOWN) {
        line(&format!("open     {id}  {}", left(*state)));
    }
    let more = loss.open.len().saturating_sub(SHOWN);
    if more > 0 {
        line(&format!("         and {more} more: outcome unknown"));
    }
    for file in &loss.files {
        let part = match file.offset {
            0 => String::new(),
            offset => format!(" from byte {offset} on"),
        };
        line(&format!(
            "goes     {}{part}: {} bytes, {} intact records",
            visible(&file.file),
            file.bytes,
            file.records.len()
        ));
        for record in file.records.iter().take(SHOWN) {
            line(&format!("         {}", shown(record)));
        }
        let more = file.records.len().saturating_sub(SHOWN);
        if more > 0 {
            line(&format!("         and {more} more"));
        }
    }
    line(&format!(
        "lost     {} intact records, and what is damaged or gone already; grants can be among them",
        loss.records()
    ));
    line(
        "         What goes is copied to `quarantine` in the state folder, and a record says so and who said it.",
    );
    text
}

/// What is known of a proposal whose further records are lost.
fn left(state: State) -> &'static str {
    match state {
        State::Pending => "waited; whether it was decided and ran is unknown",
        State::Granted => "was granted; whether it was executed is unknown",
        _ => "was executed; the outcome is unknown",
    }
}

fn shown(record: &LostRecord) -> String {
    format!(
        "seq {}  {}  {}  {}",
        record.seq,
        record.ts.map_or_else(|| "-".to_owned(), seconds),
        claim(&record.kind, 20),
        claim(record.id.as_deref().unwrap_or("-"), 40)
    )
}

/// The terminal of a person. `who`: what is left as it was, and the command that asks.
pub(super) fn terminal(who: &str) -> Result<File, Failure> {
    let opened = File::options().read(true).write(true).open("/dev/tty");
    opened.map_err(|e| {
        Failure::general(format!(
            "{who} asks a person on a terminal, and there is none ({e})"
        ))
    })
}

/// Asks for random digits. Input typed before the question must not answer it.
pub(super) fn agreed(terminal: &mut File, what: &str) -> io::Result<bool> {
    let mut random = [0; 2];
    getrandom::fill(&mut random).map_err(|e| io::Error::other(e.to_string()))?;
    let digits = format!("{:04x}", u16::from_le_bytes(random));
    tcflush(&*terminal, FlushArg::TCIFLUSH)?;
    write!(
        terminal,
        "\ntype {digits} to {what}, anything else to leave: "
    )?;
    terminal.flush()?;
    let mut answer = String::new();
    BufReader::new(&*terminal).read_line(&mut answer)?;
    Ok(answer.trim_end_matches(['\n', '\r']) == digits)
}
