//! A separate process that sends as fast as the dashboard reads.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Connections per kind of flood.
const CONNECTIONS: usize = 6;

static ANSWERED: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);

/// One line per kind; `N` is replaced by a number, so that no two lines are the same.
fn kinds() -> Vec<String> {
    let large = "x = [1, 2, 3]\\n".repeat(64 * 1024 / 14 - 8);
    let call = |method: &str, code: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"code":"{code}"}}}}"#)
    };
    vec![
        call("propose", "print(N)"),
        call("propose", &format!("{large}print(N)")),
        call("propose", "import os\\nos.system('N')"),
        call("check", &format!("{large}print(N)")),
        r#"{"jsonrpc":"2.0","id":N,"method":"approve","params":["#.to_owned(),
    ]
}

/// The flooding process: runs until its input ends.
pub fn run(socket: &str) {
    for kind in kinds() {
        for at in 0..CONNECTIONS {
            let stream = UnixStream::connect(socket).unwrap();
            let answers = BufReader::new(stream.try_clone().unwrap());
            thread::spawn(move || read(answers));
            let kind = kind.clone();
            thread::spawn(move || send(stream, &kind, at));
        }
    }
    let mut heard = [0];
    while std::io::stdin().read(&mut heard).is_ok_and(|n| n > 0) {
        let refused = REFUSED.load(Ordering::Relaxed);
        println!("{} {refused}", ANSWERED.load(Ordering::Relaxed));
    }
}

fn send(mut stream: UnixStream, kind: &str, at: usize) {
    for n in 0_u64.. {
        let line = kind.replace('N', &format!("{at}{n}")) + "\n";
        if stream.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(answers: BufReader<UnixStream>) {
    for line in answers.split(b'\n') {
        let Ok(line) = line else { return };
        ANSWERED.fetch_add(1, Ordering::Relaxed);
        if line.windows(6).any(|w| w == b"-32002") {
            REFUSED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A flood that continues until it is stopped.
pub struct Flood {
    child: Child,
    ask: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Flood {
    pub fn start(socket: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("flood")
            .arg(socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let ask = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, ask, stdout }
    }

    /// The numbers of answers received and of refusals among them.
    fn counts(&mut self) -> (u64, u64) {
        self.ask.write_all(b"?").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let (answered, refused) = line.trim().split_once(' ').unwrap();
        (answered.parse().unwrap(), refused.parse().unwrap())
    }

    pub fn wait_until_refused(&mut self) {
        while self.counts().1 == 0 {
            thread::yield_now();
        }
    }

    pub fn stop(mut self) -> String {
        let (answered, refused) = self.counts();
        let _ = self.child.kill();
        let _ = self.child.wait();
        format!("{answered} answers, {refused} of them refusals (-32002)")
    }
}
