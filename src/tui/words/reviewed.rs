//! The program that only reads a log.

use super::super::keys::Command;
use super::{number, well};
use crate::model::grouped;

/// The terminal has fewer columns or rows than are needed.
pub fn too_small(columns: u16, rows: u16) -> String {
    let needed = format!("{}×{}", super::MIN_COLUMNS, super::MIN_ROWS);
    format!(
        "{columns}×{rows} is too small: {} needs {needed}.",
        super::NAME
    )
}

pub const NAME: &str = "countersign audit";
pub const READ_ONLY: &str = "read only";
pub const WRITTEN: &str = "a dashboard writes it";
pub const NOT_SIGNED: &str = " ■ NOT THE LOG THAT WAS SIGNED ";
pub const DAMAGED: &str = " ✗ The log is damaged, what can be read is shown: ";
pub const UNUSABLE: &str = " ▲ Its checkpoints are of no use: ";
pub const INDEX: &str = " Index ";
pub const NO_OTHER: &str = "the state folder has none that fits, so one is made in a private place";
/// Once it is there.
pub const INDEX_MADE: &str =
    "the state folder has no index that fits: one was made in a private place";

/// What the whole log was found to be, as long as there is room.
pub fn checking() -> [&'static str; 2] {
    ["checking the whole log", "checking"]
}

pub fn not_anchored() -> [String; 2] {
    [
        format!("log {} not anchored: a cut end cannot be excluded", well()),
        "not anchored".to_owned(),
    ]
}

pub fn through(seq: u64) -> [String; 2] {
    let seq = number(seq);
    [
        format!("log {} anchored through seq {seq}", well()),
        format!("anchored: {seq}"),
    ]
}

pub fn unusable() -> [String; 2] {
    [
        format!("log {} checkpoints of no use", well()),
        "checkpoints?".to_owned(),
    ]
}

pub const IS_DAMAGED: [&str; 2] = ["log ✗ damaged", "✗ damaged"];
pub const IS_CONTRADICTED: [&str; 2] = [" CONTRADICTS ITS CHECKPOINT ", " CONTRADICTED "];

/// `verify`: the command that tells the rest.
pub fn says_all(verify: &str) -> String {
    format!(" · `{verify}` tells all of it")
}

/// How far the index is. In millions of bytes.
pub fn made(read: u64, of: u64) -> String {
    let mb = |bytes: u64| grouped(bytes.div_ceil(1_000_000));
    format!("{} of {} MB read; ", mb(read), mb(of))
}

/// What a command does in this program.
pub const fn does(command: Command) -> &'static str {
    match command {
        Command::Down => "down",
        Command::Up => "up",
        Command::Left => "while output is played: slower",
        Command::Right => "while output is played: faster",
        Command::NextPane => "on a page: its next part; while output is played: cut long waits",
        Command::PreviousPane => "on a page: the part before",
        Command::Open => "open the page of a proposal; on the page, play its output; then, pause",
        Command::PageCode => "a page down; while output is played: pause",
        Command::PageDown => "a page down",
        Command::PageUp => "a page up",
        Command::Details => "on a page: its records as they were written, and back",
        Command::Inputs => "on a page: to INPUTS",
        Command::Diff => "on a page: to DIFF",
        Command::OpenOutside => "on a page: to OUTPUT",
        Command::Facets => "how the rows divide; Enter narrows the query",
        Command::Statistics => "statistics of the rows, as bars",
        Command::Export => "write the rows into a folder, never into that of the log",
        Command::Search => "a query, as for `audit list`; on a page: search in it",
        Command::Back => "back: closes what is open, then drops the query",
        Command::Suspend => "suspend",
        Command::Quit => "quit",
        other => other.words(),
    }
}

/// What words on these screens mean; those of decisions are not among them.
pub const GLOSSARY: &[(&str, &str)] = &[
    ("clear", "no rule matched; that does not make it safe"),
    ("flagged", "a rule matched; it was left to a person"),
    (
        "blocked",
        "a rule matched that nobody could set aside, or it was certain to fail",
    ),
    (
        "unanalyzable",
        "it could not be read or judged; treated as blocked",
    ),
    ("profile", "the rules and limits that a proposal asked for"),
    (
        "took, looked, ran",
        "the time from the proposal to its decision, how long the person had it on the screen, and how long the run took",
    ),
    (
        "shown",
        "how many findings stood on the screen before the decision",
    ),
    ("in a row", "decisions of one person, one after the other"),
    (
        "drill",
        "a proposal of the dashboard's own, to see whether it is caught; nothing of it can run",
    ),
    (
        "tier",
        "how a run was shut in: process (weak), kernel, container, microvm",
    ),
    (
        "layer",
        "one wall of a tier, read from outside before the run began: userns, pidns, netns (its own users, processes, \
         network), landlock:7 (files by the kernel's rules, version 7), seccomp (which calls to the kernel)",
    ),
    ("seq", "the number of a record in the log"),
    (
        "not anchored",
        "no checkpoint of the log is at hand, so a cut end cannot be noticed",
    ),
    (
        "anchored through",
        "a checkpoint signs the records up to this one, and the log was compared with it",
    ),
    (
        "sha256, digest",
        "a fingerprint: other bytes, another digest; written in the digits 0-9 and a-f",
    ),
    ("[REDACTED:...]", "stands for a secret that was not kept"),
    (
        "┊, err┊",
        "before each row of what a run printed, on standard output or standard error; the program's own rows have none",
    ),
    ("succeeded", "it ran to its end"),
    (
        "failed, error",
        "it ran and its code or a limit ended it; or it could not be run",
    ),
    ("denied", "a person said no"),
    ("expired", "nobody decided in time, so it was refused"),
    ("withdrawn", "its agent took it back or went away"),
    ("unattended", "the dashboard ended before anybody decided"),
    ("drilled", "a drill's end: nothing ran"),
    (
        "\\u{...}",
        "a character that terminals draw differently, by its number",
    ),
];

pub mod plain {
    //! The same in plain lines.

    /// `help`: the key that lists the others.
    pub fn greeting(help: &str) -> String {
        format!(
            "countersign audit in plain lines: a log that is only read, nothing can be decided here. \
             {help} lists the keys."
        )
    }

    pub fn too_narrow(columns: u16, fewest: u16) -> String {
        format!("Too narrow: {columns} columns, {fewest} are needed.")
    }

    pub fn folder(folder: &str) -> String {
        format!("state folder {folder}")
    }

    pub const WRITTEN: &str = "a dashboard writes it meanwhile";
    pub const CHECKING: &str = "The whole log is being checked.";
    pub const MAKING: &str =
        "The state folder has no index that fits; one is being made in a private place.";
    pub const NOT_ANCHORED: &str =
        "The log is consistent here; not anchored: a cut end cannot be excluded.";

    pub fn through(seq: u64) -> String {
        format!(
            "The log is consistent here; anchored through seq {}.",
            super::number(seq)
        )
    }
}
