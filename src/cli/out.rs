//! Standard output and standard error: the only place of the command line that writes to them.
//!
//! Messages go through [`VisibleWriter`], whether to a terminal or a pipe: they contain names of
//! files, rules and agents, and piped output may end up on a terminal too. On a terminal, a long
//! line is broken into marked [`Rows`]. Requested data is written byte for byte, unless it goes to
//! a terminal, which could act on it. JSON stays the same JSON, with every hidden character
//! escaped.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::error::Failure;
use crate::model::{VisibleWriter, visible, visible_json, visible_lines};
use crate::paths::Folders;

use super::Globals;
use super::rows::Rows;

/// How long a new terminal may take to say how large it is: some get their size after their first program.
const SIZE: Duration = Duration::from_secs(1);

/// Fails if the terminal does not say how large it is: nothing could be shown there.
pub(super) fn needs_size(instead: &str) -> Result<(), Failure> {
    let until = Instant::now() + SIZE;
    while !crossterm::terminal::size().is_ok_and(|(columns, rows)| columns > 0 && rows > 0) {
        if Instant::now() > until {
            return Err(Failure::usage(format!(
                "the terminal has no size: `stty rows 40 cols 120` gives it one{instead}"
            )));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Writes a command's messages to standard output. A reader that closed the pipe (`| head`) is no
/// error.
pub(super) fn print(what: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let stdout = io::stdout();
    let rows = Rows::new(BufWriter::new(stdout.lock()), stdout.is_terminal());
    let mut out = VisibleWriter::new(rows);
    printed(what(&mut out).and_then(|()| out.flush()))
}

/// Messages that come one after the other, each at its time.
pub(super) struct Pieces(VisibleWriter<Rows<io::Stdout>>);

impl Pieces {
    pub(super) fn new() -> Self {
        let stdout = io::stdout();
        let seen = stdout.is_terminal();
        Self(VisibleWriter::new(Rows::new(stdout, seen)))
    }

    /// Prints the next one; false if nobody reads any more.
    pub(super) fn print(
        &mut self,
        what: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<bool, Failure> {
        let done = what(&mut self.0).and_then(|()| self.0.flush());
        let read = !matches!(&done, Err(e) if e.kind() == io::ErrorKind::BrokenPipe);
        printed(done).map(|()| read)
    }
}

/// Writes one JSON text and a newline.
pub(super) fn print_json(json: &str) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let text = visible_json(json);
    printed(writeln!(out, "{text}").and_then(|()| out.flush()))
}

/// Writes one JSON text for a program that has to get it: a reader that is gone is an error, and so is an output that was closed.
pub(super) fn hand_over(json: &str) -> io::Result<()> {
    if leads_nowhere() {
        return Err(io::Error::other(
            "standard output is closed, or leads to /dev/null",
        ));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}", visible_json(json))?;
    out.flush()
}

/// Whether what is written to standard output is lost. Rust opens `/dev/null` where it was closed.
fn leads_nowhere() -> bool {
    let same = |null: rustix::fs::Stat| {
        rustix::fs::fstat(io::stdout())
            .is_ok_and(|out| (out.st_rdev, out.st_mode) == (null.st_rdev, null.st_mode))
    };
    rustix::fs::stat("/dev/null").is_ok_and(same)
}

/// Writes a JSON array of the texts that `find` hands over, each as soon as it comes.
pub(super) fn print_rows_json(
    find: impl FnOnce(&mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut begun = false;
    let found = find(&mut |json| {
        let before = if begun { ",\n  " } else { "[\n  " };
        begun = true;
        // No line feed of a JSON text stands in a string.
        write!(out, "{before}{}", visible_json(json).replace('\n', "\n  "))
    });
    let end = if begun { "\n]" } else { "[]" };
    printed(
        found
            .and_then(|()| writeln!(out, "{end}"))
            .and_then(|()| out.flush()),
    )
}

/// Writes requested data: exactly, unless it goes to a terminal.
pub(super) fn print_data(data: &[u8]) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    if out.get_ref().is_terminal() {
        let mut out = VisibleWriter::new(out);
        return printed(out.write_all(data).and_then(|()| out.flush()));
    }
    printed(out.write_all(data).and_then(|()| out.flush()))
}

/// The same for data that is made while it is written.
pub(super) fn print_data_by(
    what: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    if out.get_ref().is_terminal() {
        let mut out = VisibleWriter::new(out);
        return printed(what(&mut out).and_then(|()| out.flush()));
    }
    printed(what(&mut out).and_then(|()| out.flush()))
}

fn printed(done: io::Result<()>) -> Result<(), Failure> {
    match done {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::general(format!("cannot print: {e}")))
        }
        _ => Ok(()),
    }
}

/// Writes one line to standard error, with every hidden character escaped, even newlines.
pub(super) fn tell(line: &str) {
    let err = io::stderr();
    let line = format!("{}\n", visible(line));
    let mut rows = Rows::new(err.lock(), err.is_terminal());
    // With standard error closed nobody can read this.
    let _ = rows.write_all(line.as_bytes());
}

/// Writes a run's standard error to our own.
pub(super) fn tell_data(text: &str) {
    let mut out = io::stderr();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = if out.is_terminal() {
        write!(out, "{}{end}", visible_lines(text))
    } else {
        write!(out, "{text}{end}")
    };
}

/// Prints why a command ends. The exit code reports the failure even if nobody reads this.
pub fn tell_error(message: &str, more: &[String]) {
    tell(&format!("error: {message}"));
    for line in more {
        tell(&format!("  {line}"));
    }
}

/// Shows a page on the terminal where a person will be asked.
pub(super) fn show(terminal: &mut impl Write, page: &str) -> io::Result<()> {
    let mut out = VisibleWriter::new(Rows::new(terminal, true));
    out.write_all(page.as_bytes())?;
    out.flush()
}

/// One line of standard error that the next one overwrites; nothing unless it is a terminal.
pub(super) fn progress(line: &str) {
    let mut err = io::stderr().lock();
    if err.is_terminal() {
        // A failure to show progress is no reason to stop.
        let _ = write!(err, "\r{}\x1b[K", visible(line)).and_then(|()| err.flush());
    }
}

/// Waits this long; true at once if the reader closed standard output.
pub(super) fn is_closed_within(ms: u16) -> bool {
    let stdout = io::stdout();
    let mut fds = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    let closed = PollFlags::POLLERR | PollFlags::POLLHUP | PollFlags::POLLNVAL;
    match poll(&mut fds, PollTimeout::from(ms)) {
        Ok(0) => false,
        Ok(_) => fds[0].revents().is_some_and(|seen| seen.intersects(closed)),
        Err(_) => {
            // A signal interrupted the wait: never be faster than asked for.
            std::thread::sleep(Duration::from_millis(ms.into()));
            false
        }
    }
}

/// Whether standard output is a terminal.
pub(super) fn is_seen() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard error is a terminal.
pub(super) fn is_told() -> bool {
    io::stderr().is_terminal()
}

/// Prints clap's messages: help and version to standard output, usage errors to standard error.
/// Clap repeats arguments and variables unescaped, including newlines.
pub fn print_usage(
    words: &clap::Error,
    arguments: impl Iterator<Item = OsString>,
) -> io::Result<()> {
    let arguments: Vec<OsString> = arguments.collect();
    let shown: Vec<OsString> = arguments
        .iter()
        .map(|word| visible(&word.to_string_lossy()).into_owned().into())
        .collect();
    // Clap also repeats parts of arguments. So parse them again with hidden characters escaped, and
    // print that error if it is of the same kind.
    let again = (shown != arguments)
        .then(|| super::parse(shown))
        .and_then(Result::err);
    let words = again
        .as_ref()
        .filter(|again| again.kind() == words.kind())
        .unwrap_or(words);
    usage(words, &arguments)
}

fn usage(words: &clap::Error, arguments: &[OsString]) -> io::Result<()> {
    // Not as plain text: clap would strip an argument's escape sequences together with its own.
    let mut text = words.render().ansi().to_string();
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let ours = name.to_string_lossy().starts_with("COUNTERSIGN_");
        ours.then_some(value)
    });
    let mut repeated: Vec<String> = arguments
        .iter()
        .cloned()
        .chain(variables)
        .flat_map(|word| {
            let word = word.to_string_lossy().into_owned();
            let parts = word
                .split_once('=')
                .map(|(name, value)| [name.to_owned(), value.to_owned()]);
            let parts = parts.into_iter().flatten();
            parts.chain([word]).collect::<Vec<_>>()
        })
        .filter(|word| visible(word) != word.as_str())
        .collect();
    // The longest first, because one argument may contain another.
    repeated.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let clean = repeated.is_empty();
    for word in repeated {
        text = text.replace(&word, &visible(&word));
    }
    let text = without_styles(&text);
    let shown = visible_lines(&text);
    let asked = matches!(
        words.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if asked && clean && io::stdout().is_terminal() {
        // Print it in clap's own colours.
        return words.print();
    }
    if words.use_stderr() {
        let err = io::stderr();
        Rows::new(err.lock(), err.is_terminal()).write_all(shown.as_bytes())
    } else {
        write!(io::stdout(), "{shown}")
    }
}

/// Removes clap's colours: `ESC [ … m`.
fn without_styles(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let style = |c: char| c.is_ascii_digit() || c == ';';
        match piece.trim_start_matches(style).strip_prefix('m') {
            Some(rest) => out.push_str(rest),
            None => {
                out.push_str("\u{1b}[");
                out.push_str(piece);
            }
        }
    }
    out
}

/// The state folder. No configuration file can move it, so a broken one cannot hide the log.
pub(super) fn state_dir(globals: &Globals) -> Result<PathBuf, Failure> {
    match globals.options().state_dir {
        Some(dir) => Ok(dir),
        None => Folders::from_environment()
            .map(|f| f.state)
            .map_err(|e| Failure::usage(e.to_string())),
    }
}
