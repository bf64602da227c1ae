//! The dashboard's binary in a pseudo-terminal, with a VT100 emulator for its screen.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use serde_json::Value;
use tempfile::TempDir;

use super::agent::Agent;
use super::python;

/// The longest wait for anything. Generous: only a failing test waits that long.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// The pause before a deciding key: longer than the quiet time that the dashboard requires before
/// such a key.
const BETWEEN: Duration = Duration::from_millis(400);

#[derive(Default)]
struct Seen {
    raw: Vec<u8>,
    closed: bool,
    /// The reader stops for good.
    hang_up: bool,
    /// The reader pauses.
    paused: bool,
    frames: Frames,
}

/// The frames that a program finished, told by the end of a synchronised update.
pub struct Frames {
    count: usize,
    /// When the last one arrived.
    at: Instant,
    /// Bytes of output that were searched.
    searched: usize,
}

impl Default for Frames {
    fn default() -> Self {
        Self {
            count: 0,
            at: Instant::now(),
            searched: 0,
        }
    }
}

impl Frames {
    const END: &'static [u8] = b"\x1b[?2026l";

    /// Call whenever there is more output.
    pub fn search(&mut self, raw: &[u8]) {
        let found = raw[self.searched..]
            .windows(Self::END.len())
            .filter(|bytes| *bytes == Self::END)
            .count();
        // The marker may be cut in two.
        self.searched = raw.len().saturating_sub(Self::END.len() - 1);
        if found > 0 {
            self.count += found;
            self.at = Instant::now();
        }
    }

    pub const fn count(&self) -> usize {
        self.count
    }

    pub const fn at(&self) -> Instant {
        self.at
    }
}

struct Screen {
    parser: vt100::Parser,
    seen: Seen,
    /// Whether the terminal answers status requests (DSR 5).
    answers: bool,
}

pub struct Dash {
    pub dir: TempDir,
    pub socket: PathBuf,
    pub state: PathBuf,
    master: Box<dyn MasterPty + Send>,
    writer: Keys,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<(Mutex<Screen>, Condvar)>,
}

pub struct Options<'a> {
    pub config: &'a str,
    pub files: &'a [(&'a str, &'a str)],
    pub policies: &'a [(&'a str, &'a str)],
    pub size: (u16, u16),
    pub args: &'a [&'a str],
    /// The program; without it, the one that was built for the tests.
    pub program: Option<&'a Path>,
    /// Variables besides those of [`environment`].
    pub env: &'a [(&'a str, &'a str)],
    /// Whether the terminal answers status requests (DSR 5).
    pub answers: bool,
    /// The soft and hard limits of open files for the dashboard.
    pub open_files: Option<(u64, u64)>,
    /// Another uid, whom the folder is given; takes root and `setpriv`.
    pub uid: Option<u32>,
    /// Whether it has a network namespace of its own, with nothing in it; takes root and `unshare`.
    pub alone: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            config: "",
            files: &[],
            policies: &[],
            size: (120, 40),
            args: &[],
            program: None,
            env: &[],
            answers: true,
            open_files: None,
            uid: None,
            alone: false,
        }
    }
}

impl Dash {
    /// Starts a dashboard in its own folder, with the managed Python ready.
    pub fn start() -> Self {
        Self::with(&Options::default())
    }

    pub fn with(options: &Options<'_>) -> Self {
        let dash = Self::launch(options);
        let over = |d: &Self| d.screen.0.lock().unwrap().seen.closed;
        let screen = dash.wait_for("the socket", |d, _| d.socket.exists() || over(d));
        assert!(
            dash.socket.exists(),
            "the dashboard ended at once:\n{screen}"
        );
        dash
    }

    /// Starts a dashboard without waiting for its socket.
    pub fn launch(options: &Options<'_>) -> Self {
        let dir = folder(options);
        let root = dir.path().to_path_buf();
        let (master, writer, child, screen) = open(&root, options);
        Self {
            socket: root.join("run/agent.sock"),
            state: root.join("state"),
            dir,
            master,
            writer,
            child,
            screen,
        }
    }

    /// Runs another command of the binary in a new terminal on the same folders, once the
    /// command before it has ended.
    pub fn then(&mut self, args: &[&str]) {
        self.child.wait().unwrap();
        let root = self.dir.path().to_path_buf();
        let options = Options {
            args,
            ..Options::default()
        };
        (self.master, self.writer, self.child, self.screen) = open(&root, &options);
    }

    pub fn agent(&self) -> Agent {
        Agent::connect(&self.socket)
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().expect("the dashboard has a pid")
    }

    /// Sends bytes as if typed at the terminal.
    pub fn keys(&mut self, keys: &str) {
        let mut writer = self.writer.lock().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// The dashboard's local log, written for its user.
    pub fn local_log(&self) -> String {
        std::fs::read_to_string(self.state.join("dashboard.log")).unwrap()
    }

    /// The text of all audit log files, in order.
    pub fn log_text(&self) -> String {
        log_text(&self.state)
    }

    /// Closes the terminal, as closing a window does.
    pub fn hang_up(&mut self) {
        self.screen.0.lock().unwrap().seen.hang_up = true;
        // The reader closes its end with the next frame.
        self.wait_for("a last frame", |d, _| {
            d.screen.0.lock().unwrap().seen.closed
        });
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        *self.writer.lock().unwrap() = pair.master.take_writer().unwrap();
        self.master = pair.master;
    }

    /// Stops reading output, as a hung connection does, or resumes.
    pub fn pause_reading(&self, nothing: bool) {
        self.screen.0.lock().unwrap().seen.paused = nothing;
        self.screen.1.notify_all();
    }

    pub fn text(&self) -> String {
        self.screen.0.lock().unwrap().parser.screen().contents()
    }

    /// The screen as it is now, with its colours.
    pub fn screen(&self) -> vt100::Screen {
        self.screen.0.lock().unwrap().parser.screen().clone()
    }

    /// The text of each cell, row by row; empty for the cell after a wide character.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let screen = self.screen.0.lock().unwrap();
        let screen = screen.parser.screen();
        let (rows, columns) = screen.size();
        let cell = |y, x| match screen.cell(y, x).map(vt100::Cell::contents) {
            None => String::new(),
            Some("")
                if screen
                    .cell(y, x)
                    .is_some_and(vt100::Cell::is_wide_continuation) =>
            {
                String::new()
            }
            Some("") => " ".to_owned(),
            Some(text) => text.to_owned(),
        };
        let row = |y| (0..columns.get()).map(|x| cell(y, x)).collect();
        (0..rows.get()).map(row).collect()
    }

    /// Every byte the dashboard ever wrote to the terminal.
    pub fn raw(&self) -> Vec<u8> {
        self.screen.0.lock().unwrap().seen.raw.clone()
    }

    /// How many frames were drawn.
    pub fn frames(&self) -> usize {
        self.screen.0.lock().unwrap().seen.frames.count()
    }

    /// Waits for a frame beyond the first `known` ones; returns when the last one arrived.
    pub fn wait_frame(&self, known: usize) -> Instant {
        let (lock, wake) = &*self.screen;
        let wait = wake.wait_timeout_while(lock.lock().unwrap(), PATIENCE, |screen| {
            screen.seen.frames.count() <= known
        });
        let (screen, late) = wait.unwrap();
        assert!(!late.timed_out(), "no frame comes");
        screen.seen.frames.at()
    }

    pub fn alternate_screen(&self) -> bool {
        self.screen
            .0
            .lock()
            .unwrap()
            .parser
            .screen()
            .alternate_screen()
    }

    /// Waits until the condition holds. Checks it whenever the screen changes, and a few times a
    /// second for conditions that are not about the screen.
    pub fn wait_for(&self, what: &str, mut holds: impl FnMut(&Self, &str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if holds(self, &text) {
                return text;
            }
            assert!(
                Instant::now() < deadline,
                "the screen never shows {what}:\n{text}"
            );
            let (lock, wake) = &*self.screen;
            let guard = lock.lock().unwrap();
            drop(
                wake.wait_timeout(guard, Duration::from_millis(100))
                    .unwrap(),
            );
        }
    }

    /// Waits while the condition holds, at most until then: the screen's changes wake it.
    pub fn wait_while(&self, most: Instant, holds: impl Fn(&str) -> bool) -> String {
        loop {
            let text = self.text();
            let left = most.saturating_duration_since(Instant::now());
            if left.is_zero() || !holds(&text) {
                return text;
            }
            let (lock, wake) = &*self.screen;
            let guard = lock.lock().unwrap();
            drop(wake.wait_timeout_while(guard, left, |s| s.parser.screen().contents() == text));
        }
    }

    pub fn wait_text(&self, wanted: &str) -> String {
        self.wait_for(wanted, |_, text| text.contains(wanted))
    }

    /// Presses one key after a pause, as a deciding person would: a key right after another decides
    /// nothing.
    pub fn press(&mut self, key: &str) {
        std::thread::sleep(BETWEEN);
        self.keys(key);
    }

    /// Presses keys again and again, as a person would, until the screen shows the effect. Grace
    /// periods drop early keys, so one press may not be enough.
    pub fn press_until(
        &mut self,
        keys: &str,
        what: &str,
        mut done: impl FnMut(&str) -> bool,
    ) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if done(&text) {
                return text;
            }
            assert!(
                Instant::now() < deadline,
                "{keys:?} never led to {what}; the screen:\n{text}"
            );
            for (i, key) in keys.chars().enumerate() {
                if i > 0 {
                    std::thread::sleep(BETWEEN);
                }
                self.keys(key.encode_utf8(&mut [0; 4]));
            }
            let (lock, wake) = &*self.screen;
            let guard = lock.lock().unwrap();
            let pause = Duration::from_millis(150);
            drop(wake.wait_timeout_while(guard, pause, |s| s.parser.screen().contents() == text));
        }
    }

    /// Types keys until the screen shows the effect. A dashboard that stalled discards what was typed meanwhile; keys that
    /// turn something on and off again are given their time.
    pub fn until(&mut self, keys: &str, what: &str, done: impl Fn(&Self, &str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.keys(keys);
            let most = Instant::now() + Duration::from_secs(10);
            while Instant::now() < most {
                let text = self.text();
                if done(self, &text) {
                    return text;
                }
                self.pause(Duration::from_millis(100));
            }
            assert!(
                Instant::now() < deadline,
                "{keys:?} never led to {what}; the screen:\n{}",
                self.text()
            );
        }
    }

    /// Selects the most urgent proposal, reads all of it, opens the sheet and confirms it.
    pub fn grant(&mut self, agent: &mut Agent, proposal: &Value) {
        let id = proposal["id"].clone();
        self.open_sheet();
        let deadline = Instant::now() + PATIENCE;
        while agent.state(&id) == "pending" {
            assert!(
                Instant::now() < deadline,
                "the proposal was not granted; the screen:\n{}",
                self.text()
            );
            self.confirm();
            let heard = Instant::now() + Duration::from_millis(500);
            while Instant::now() < heard && agent.state(&id) == "pending" {
                self.pause(Duration::from_millis(50));
            }
            // On a stalled machine the sheet may close, even between two digits; the second one
            // then switches the view. So go back to the queue and open the sheet again.
            if agent.state(&id) == "pending" && !self.text().contains("GRANT?") {
                self.keys("1u");
                self.press("a");
            }
        }
    }

    /// Answers the sheet, if it is open and takes an answer.
    pub fn confirm(&mut self) {
        // Digits are typed only into the sheet: elsewhere they switch the view.
        let text = self.text();
        if text.contains("of this sheet not seen") {
            // What is typed before all of it was seen does not count.
            self.press(" ");
        } else if text.contains("GRANT?") {
            match self.digits() {
                Some(digits) => {
                    self.keys(&format!(" {digits}"));
                    self.press("\r");
                }
                None => {
                    self.keys(" ");
                    self.press("y");
                }
            }
        }
    }

    /// Pages through the code as a reading person does: moves on to unseen rows once the current
    /// page counts as seen.
    pub fn see_all(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            let seen = progress(&text);
            if text.contains("GRANT?") || seen.is_some_and(|(have, all)| have == all) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "the code was not seen; the screen:\n{text}"
            );
            self.keys(" ");
            let (lock, wake) = &*self.screen;
            let guard = lock.lock().unwrap();
            let pause = Duration::from_millis(500);
            let same = |s: &mut Screen| progress(&s.parser.screen().contents()) == seen;
            drop(wake.wait_timeout_while(guard, pause, same));
        }
    }

    /// Waits for the screen to change, at most this long.
    fn pause(&self, most: Duration) {
        let (lock, wake) = &*self.screen;
        let guard = lock.lock().unwrap();
        drop(wake.wait_timeout(guard, most).unwrap());
    }

    /// Goes to the most urgent proposal. Works from any view; a proposal that the agent was
    /// already answered about may still be on its way to the screen, so the keys are repeated.
    pub fn go_to_urgent(&mut self) {
        self.keys("1u");
        self.press_until("1u", "a pending proposal", |text| {
            progress(text).is_some() || text.contains("GRANT?")
        });
    }

    /// Goes to the most urgent proposal, pages through it and opens the sheet.
    pub fn open_sheet(&mut self) -> String {
        self.go_to_urgent();
        self.see_all();
        self.press_until(" a", "the sheet", |text| text.contains("GRANT?"))
    }

    /// The digits the sheet asks for, if it asks for any.
    pub fn digits(&self) -> Option<String> {
        let text = self.text();
        let asks = [" to grant [", " to sign a grant ["];
        let (before, _) = asks.iter().find_map(|asked| text.split_once(asked))?;
        let (_, digits) = before.rsplit_once(' ')?;
        (digits.len() == 4).then(|| digits.to_owned())
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        self.screen
            .0
            .lock()
            .unwrap()
            .parser
            .screen_mut()
            .set_size(size_of(rows), size_of(columns));
        self.master.resize(size).unwrap();
    }

    /// Gives the dashboard a terminal size that differs from the emulator's.
    pub fn claim(&self, columns: u16, rows: u16) {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        self.master.resize(size).unwrap();
    }

    /// Whether the terminal is in line mode with echo, as under a shell.
    pub fn is_cooked(&self) -> bool {
        use nix::sys::termios::{LocalFlags, tcgetattr};
        let modes = tcgetattr(self.tty()).unwrap();
        modes.local_flags.contains(LocalFlags::ICANON)
    }

    /// Sets the terminal's modes as a resumed shell does.
    pub fn cook(&self) {
        use nix::sys::termios::{
            InputFlags, LocalFlags, OutputFlags, SetArg, tcgetattr, tcsetattr,
        };
        let tty = self.tty();
        let mut modes = tcgetattr(&tty).unwrap();
        modes.local_flags |= LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG;
        modes.input_flags |= InputFlags::ICRNL;
        modes.output_flags |= OutputFlags::OPOST;
        tcsetattr(&tty, SetArg::TCSANOW, &modes).unwrap();
    }

    fn tty(&self) -> std::fs::File {
        use std::os::unix::fs::OpenOptionsExt as _;
        let name = self.master.tty_name().unwrap();
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true);
        options.custom_flags(nix::libc::O_NOCTTY);
        options.open(name).unwrap()
    }

    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.pid()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    /// Waits for the dashboard to end by itself.
    pub fn wait_exit(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Starts another command of the binary on the same folders.
    pub fn spawn(&self, args: &[&str]) -> std::process::Child {
        let mut command = cli(self.dir.path(), args);
        command.stdin(std::process::Stdio::piped());
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs another command of the binary on the same folders.
    pub fn cli(&self, args: &[&str]) -> std::process::Output {
        let mut command = cli(self.dir.path(), args);
        command.stdin(std::process::Stdio::null()).output().unwrap()
    }
}

/// Another command of the binary on the folders of a dashboard.
pub fn cli(root: &Path, args: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.env_clear().envs(environment(root)).args(args);
    command
}

/// The text of all audit log files of a state folder, in order.
pub fn log_text(state: &Path) -> String {
    let files = std::fs::read_dir(state.join("log")).unwrap();
    files
        .map(|f| std::fs::read_to_string(f.unwrap().path()).unwrap_or_default())
        .collect()
}

/// A folder of its own for a dashboard, with its files, and the managed Python ready.
pub fn folder(options: &Options<'_>) -> TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    python::ready();
    let dir = tempfile::Builder::new()
        .prefix("cs-e2e-")
        .tempdir()
        .unwrap();
    let root = dir.path();
    let private = |p: &Path, mode| {
        std::fs::set_permissions(p, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::create_dir(root.join("run")).unwrap();
    private(&root.join("run"), 0o700);
    std::fs::create_dir_all(root.join("config/policies")).unwrap();
    let write = |path: PathBuf, text: &str| {
        std::fs::write(&path, text).unwrap();
        private(&path, 0o600);
    };
    write(root.join("config/config.toml"), options.config);
    for (name, text) in options.files {
        write(root.join("config").join(name), text);
    }
    for (name, text) in options.policies {
        write(root.join("config/policies").join(name), text);
    }
    dir
}

/// Writes what the terminal sends: keys, and its own answers.
type Keys = Arc<Mutex<Box<dyn Write + Send>>>;

type Opened = (
    Box<dyn MasterPty + Send>,
    Keys,
    Box<dyn Child + Send + Sync>,
    Arc<(Mutex<Screen>, Condvar)>,
);

/// Starts the binary in its own terminal.
fn open(root: &Path, options: &Options<'_>) -> Opened {
    let Options {
        size: (columns, rows),
        args,
        program,
        env,
        answers,
        open_files,
        uid,
        alone,
        ..
    } = *options;
    let size = PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    };
    let pair = native_pty_system().openpty(size).unwrap();
    let exe = program.unwrap_or(Path::new(env!("CARGO_BIN_EXE_countersign")));
    let mut command = match open_files {
        None => match uid {
            None if alone => {
                let mut command = CommandBuilder::new("unshare");
                command.args(["--net", "--"]);
                command.arg(exe);
                command
            }
            None => CommandBuilder::new(exe),
            Some(uid) => as_user(root, exe, uid, alone),
        },
        Some((soft, hard)) => {
            let mut shell = CommandBuilder::new("sh");
            let script = format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$0\" \"$@\"");
            shell.args(["-c", &script]);
            shell.arg(exe);
            shell
        }
    };
    command.env_clear();
    for (name, value) in environment(root) {
        command.env(name, value);
    }
    for (name, value) in env {
        command.env(name, value);
    }
    command.args(args);
    command.cwd(root);
    let child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let parser = vt100::Parser::new(size_of(rows), size_of(columns), 0);
    let screen = Arc::new((
        Mutex::new(Screen {
            parser,
            seen: Seen::default(),
            answers,
        }),
        Condvar::new(),
    ));
    let mut reader = pair.master.try_clone_reader().unwrap();
    let shared = screen.clone();
    let writer: Keys = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
    let answers = writer.clone();
    std::thread::spawn(move || {
        let mut buffer = [0u8; 8192];
        let mut answered = 0;
        loop {
            let n = reader.read(&mut buffer).unwrap_or(0);
            let (lock, wake) = &*shared;
            let mut screen = lock.lock().unwrap();
            if n > 0 {
                screen.parser.process(&buffer[..n]);
                let seen = &mut screen.seen;
                seen.raw.extend_from_slice(&buffer[..n]);
                seen.frames.search(&seen.raw);
                // Terminals answer DSR 5 once they have processed all output before it.
                let asked = &screen.seen.raw[answered..];
                if let Some(at) = asked.windows(4).rposition(|w| w == b"\x1b[5n") {
                    let times = asked.windows(4).filter(|w| *w == b"\x1b[5n").count();
                    answered += at + 4;
                    if screen.answers {
                        let mut writer = answers.lock().unwrap();
                        let _ = writer.write_all(&b"\x1b[0n".repeat(times));
                        let _ = writer.flush();
                    }
                }
            }
            screen.seen.closed = n == 0 || screen.seen.hang_up;
            let closed = screen.seen.closed;
            wake.notify_all();
            let screen = wake
                .wait_while(screen, |s| s.seen.paused && !closed)
                .unwrap();
            if closed {
                // Closed before any waiting thread is notified.
                reader = Box::new(std::io::empty());
            }
            drop(screen);
            wake.notify_all();
            if closed {
                return;
            }
        }
    });
    (pair.master, writer, child, screen)
}

/// Gives the folder to another user, and has the program run as them. It is put into the folder: they may be unable to
/// reach it where it was built.
fn as_user(root: &Path, exe: &Path, uid: u32, alone: bool) -> CommandBuilder {
    let own = root.join("countersign");
    if std::fs::hard_link(exe, &own).is_err() {
        std::fs::copy(exe, &own).unwrap();
    }
    give(root, uid, &own);
    let mut command = match alone {
        true => {
            let mut command = CommandBuilder::new("unshare");
            command.args(["--net", "--", "setpriv"]);
            command
        }
        false => CommandBuilder::new("setpriv"),
    };
    let uid = uid.to_string();
    command.args(["--reuid", &uid, "--regid", &uid, "--clear-groups"]);
    command.arg(&own);
    command
}

/// Gives everything below a folder to a user, but for one file.
fn give(path: &Path, uid: u32, but: &Path) {
    if path == but {
        return;
    }
    std::os::unix::fs::lchown(path, Some(uid), Some(uid)).unwrap();
    if path.is_dir() {
        for inside in std::fs::read_dir(path).unwrap() {
            give(&inside.unwrap().path(), uid, but);
        }
    }
}

/// The number of rows seen and of rows to see, from the footer.
pub fn progress(text: &str) -> Option<(usize, usize)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let counts = words.windows(2).rev().find(|w| w[1] == "rows")?[0];
    let (have, all) = counts.split_once('/')?;
    let number = |n: &str| n.replace(',', "").parse().ok();
    Some((number(have)?, number(all)?))
}

impl Drop for Dash {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size_of(cells: u16) -> NonZeroU16 {
    NonZeroU16::new(cells).expect("a screen has rows and columns")
}

/// All environment variables of a test's processes.
pub fn environment(root: &Path) -> Vec<(&'static str, String)> {
    let at = |name: &str| root.join(name).display().to_string();
    vec![
        ("PATH", std::env::var("PATH").unwrap()),
        ("HOME", at("home")),
        ("LANG", "C.UTF-8".to_owned()),
        ("TERM", "xterm-256color".to_owned()),
        ("XDG_DATA_HOME", python::data_home().display().to_string()),
        ("XDG_CONFIG_HOME", at("xc")),
        ("XDG_STATE_HOME", at("xs")),
        ("XDG_CACHE_HOME", at("xcache")),
        ("XDG_RUNTIME_DIR", at("run")),
        ("COUNTERSIGN_CONFIG", at("config/config.toml")),
        ("COUNTERSIGN_SOCKET", at("run/agent.sock")),
        ("COUNTERSIGN_STATE_DIR", at("state")),
        ("COUNTERSIGN_POLICY_DIR", at("config/policies")),
    ]
}
