//! The peers that start a process for each snippet: Python alone, and Python in a bwrap jail.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{TRIVIAL, Times};

/// A typical ad-hoc jail around a command.
const JAIL: &[&str] = &[
    "bwrap",
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
];

pub struct Peer {
    name: String,
    pub work: &'static str,
    command: Vec<String>,
    times: Times,
}

/// One peer per work and command, after a warm-up run; without bwrap if it is not installed.
pub fn peers(python: &Path, table: &Path) -> Vec<Peer> {
    let grouped = format!(
        "import pandas as pd\nprint(pd.read_csv({table:?}).groupby('region')['amount'].mean())"
    );
    let mut jails: Vec<(&str, &[&str])> = vec![("python -I", &[])];
    match Command::new(JAIL[0]).arg("--version").output() {
        Ok(_) => jails.push(("bwrap + python -I", JAIL)),
        Err(e) => println!("without bwrap: {e}"),
    }
    let mut peers = Vec::new();
    for (work, code) in [("trivial", TRIVIAL), ("group-by", &grouped)] {
        for (name, jail) in &jails {
            let start = [python.to_str().unwrap(), "-I", "-c", code];
            let command = jail.iter().chain(&start).map(ToString::to_string).collect();
            let peer = Peer {
                name: format!("{name}, {work}"),
                work,
                command,
                times: Times::default(),
            };
            peer.once();
            peers.push(peer);
        }
    }
    peers
}

impl Peer {
    /// Runs once after a pause, in which background work may happen.
    pub fn run(&mut self, pause: Duration) {
        std::thread::sleep(pause);
        let times = self.once();
        self.times.add(times);
    }

    /// Milliseconds to the first byte and to the end.
    fn once(&self) -> (f64, f64) {
        let begun = Instant::now();
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0]).unwrap();
        let first = begun.elapsed();
        std::io::copy(&mut out, &mut std::io::sink()).unwrap();
        assert!(child.wait().unwrap().success(), "{}", self.name);
        (
            first.as_secs_f64() * 1e3,
            begun.elapsed().as_secs_f64() * 1e3,
        )
    }

    pub fn times(self) -> (String, Times) {
        (self.name, self.times)
    }
}
