//! Many agents at once: connections, pending proposals, a flood, slow and half-open peers and a storm of connections,
//! each beside a polite agent whose waiting times are compared with those when it is alone.
//!
//! `cargo bench --bench socket -- load` takes about a minute; with `whole` the flood lasts one. Each kind of peer is a
//! process of its own, as the dashboard tells peers apart. The bare peer is a Unix socket that answers lines of the same
//! length with lines of the same length.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::common::agent::Agent;
use super::common::dash::{Dash, Options};
use super::common::python;
use super::{Times, ms, target};

/// Proposals of the polite agent in each part.
const POLITE: usize = 300;
const CONNECTIONS: usize = 1_000;
const PENDING: usize = 10_000;
/// Proposals a second, by two processes.
const OFFERED: u64 = 5_000;
/// The longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Room for that many connections of one uid.
const CONFIG: &str = "[queue]\nmax_pending = 20000\nmax_pending_per_peer = 10100\n\
                      [socket]\nmax_connections = 2200\n";

/// What became of a process's requests.
#[derive(Default)]
struct Tally {
    sent: u64,
    served: u64,
    /// Refusals for now that say when to ask again.
    dated: u64,
    /// Refusals for now that do not.
    undated: u64,
    /// Other errors.
    wrong: u64,
    /// Requests or connections without an answer.
    silent: u64,
}

impl Tally {
    const NAMES: [&str; 6] = [
        "sent",
        "served",
        "refused with a time",
        "without",
        "wrong",
        "no answer",
    ];

    fn count(&mut self, line: &str) {
        let answer: Value = serde_json::from_str(line).unwrap_or_default();
        let error = &answer["error"];
        let dated = error["data"]["retry_after_ms"]
            .as_u64()
            .is_some_and(|ms| ms > 0);
        match (error["code"].as_i64(), dated) {
            (None, _) => self.served += 1,
            (Some(-32002), true) => self.dated += 1,
            (Some(-32002), false) => self.undated += 1,
            (Some(_), _) => self.wrong += 1,
        }
    }

    fn numbers(&self) -> [u64; 6] {
        [
            self.sent,
            self.served,
            self.dated,
            self.undated,
            self.wrong,
            self.silent,
        ]
    }

    fn add(&mut self, other: [u64; 6]) {
        let mine = [
            &mut self.sent,
            &mut self.served,
            &mut self.dated,
            &mut self.undated,
            &mut self.wrong,
            &mut self.silent,
        ];
        mine.into_iter()
            .zip(other)
            .for_each(|(mine, other)| *mine += other);
    }

    fn line(&self) -> String {
        let all = self.numbers().into_iter().zip(Self::NAMES);
        all.map(|(n, name)| format!("{n} {name}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// One kind of peer, in its own process; prints its tally when its input ends or it is done.
pub fn role(kind: &str, socket: &str, seconds: &str) {
    let socket = Path::new(socket);
    let seconds = Duration::from_secs(seconds.parse().unwrap());
    let tally = match kind {
        "connections" => connections(socket),
        "pending" => pending(socket),
        "flood" => flood(socket, seconds),
        "deaf" => deaf(socket),
        "half" => half_open(socket),
        "storm" => storm(socket, seconds),
        "echo" => return echo(socket),
        _ => panic!("no such peer: {kind}"),
    };
    println!("{}", tally.numbers().map(|n| n.to_string()).join(" "));
    // Connections stay open until the parent has looked.
    std::io::stdout().flush().unwrap();
}

fn propose(id: u64, code: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "propose", "params": {"code": code, "ttl_s": 900}})
        .to_string()
        + "\n"
}

fn until_stopped() {
    let _ = std::io::stdin().read(&mut [0]);
}

fn told() {
    println!("ready");
    std::io::stdout().flush().unwrap();
}

/// As many connections as they come, each of them with one request.
fn connections(socket: &Path) -> Tally {
    let mut tally = Tally::default();
    let hello =
        r#"{"jsonrpc":"2.0","id":1,"method":"status","params":{"id":"x"}}"#.to_owned() + "\n";
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A refused one may be closed already; its reason can still be read.
        let _ = stream.write_all(hello.as_bytes());
        tally.sent += 1;
        open.push(BufReader::new(stream));
    }
    for stream in &mut open {
        let mut line = String::new();
        match stream.read_line(&mut line) {
            Ok(n) if n > 0 && line.contains("-32004") => tally.served += 1,
            Ok(n) if n > 0 => tally.count(&line),
            _ => tally.silent += 1,
        }
    }
    told();
    until_stopped();
    tally
}

/// Proposals one after the other until so many wait; a refusal is obeyed.
fn pending(socket: &Path) -> Tally {
    let mut tally = Tally::default();
    let mut agent = Agent::connect(socket);
    let mut waiting = 0;
    while waiting < PENDING {
        let group = (PENDING - waiting).min(64);
        let ids: Vec<u64> = (0..group)
            .map(|n| {
                agent.send(
                    "propose",
                    json!({"code": format!("print({})\n", waiting + n), "ttl_s": 900}),
                )
            })
            .collect();
        let mut pause = 0;
        for id in ids {
            let answer = agent.answer(id, PATIENCE);
            tally.sent += 1;
            tally.count(&answer.to_string());
            waiting += usize::from(answer.get("result").is_some());
            pause = pause.max(
                answer["error"]["data"]["retry_after_ms"]
                    .as_u64()
                    .unwrap_or(0),
            );
        }
        thread::sleep(Duration::from_millis(pause));
    }
    told();
    until_stopped();
    tally
}

/// Half of the offered proposals a second over four connections, as far as they are read.
fn flood(socket: &Path, seconds: Duration) -> Tally {
    let lanes: u64 = 4;
    let each = Duration::from_secs(1) / (OFFERED / 2 / lanes) as u32;
    let threads: Vec<_> = (0..lanes)
        .map(|lane| {
            let mut stream = UnixStream::connect(socket).unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap());
            let reader = thread::spawn(move || {
                let mut tally = Tally::default();
                lines
                    .lines()
                    .map_while(Result::ok)
                    .for_each(|line| tally.count(&line));
                tally
            });
            thread::spawn(move || {
                let begun = Instant::now();
                let mut sent = 0_u64;
                while begun.elapsed() < seconds {
                    let due = (begun.elapsed().as_nanos() / each.as_nanos()) as u64;
                    while sent < due && begun.elapsed() < seconds {
                        let line = propose(sent, &format!("print({lane}{sent})\n"));
                        if stream.write_all(line.as_bytes()).is_err() {
                            break;
                        }
                        sent += 1;
                    }
                    thread::sleep(Duration::from_millis(1));
                }
                let _ = stream.shutdown(Shutdown::Write);
                let mut tally = reader.join().unwrap();
                tally.sent = sent;
                let answered: u64 = tally.numbers()[1..5].iter().sum();
                tally.silent = sent.saturating_sub(answered);
                tally
            })
        })
        .collect();
    let mut all = Tally::default();
    threads
        .into_iter()
        .for_each(|t| all.add(t.join().unwrap().numbers()));
    all
}

/// Peers that ask and never read.
fn deaf(socket: &Path) -> Tally {
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}"#.to_owned() + "\n";
    let mut tally = Tally::default();
    let mut open: Vec<UnixStream> = (0..16)
        .map(|_| UnixStream::connect(socket).unwrap())
        .collect();
    for stream in &open {
        stream
            .set_write_timeout(Some(Duration::from_millis(20)))
            .unwrap();
    }
    told();
    let stopped = thread::spawn(until_stopped);
    while !stopped.is_finished() {
        for stream in &mut open {
            match stream.write(line.as_bytes()) {
                Ok(_) => tally.sent += 1,
                Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => {
                    // Cut off for not reading; it comes again.
                    tally.silent += 1;
                    *stream = UnixStream::connect(socket).unwrap();
                    stream
                        .set_write_timeout(Some(Duration::from_millis(20)))
                        .unwrap();
                }
                Err(_) => {}
            }
        }
    }
    tally
}

/// Peers that begin a line and never end it; peers that propose, close their writing side and wait; and peers that no
/// longer read.
fn half_open(socket: &Path) -> Tally {
    let mut tally = Tally::default();
    let open: Vec<UnixStream> = (0..96)
        .map(|n| {
            let mut stream = UnixStream::connect(socket).unwrap();
            let _ = match n % 3 {
                0 => stream.write_all(br#"{"jsonrpc":"2.0","id":1,"#),
                1 => stream
                    .write_all(propose(1, &format!("print({n})\n")).as_bytes())
                    .and_then(|()| stream.shutdown(Shutdown::Write)),
                _ => stream
                    .write_all(propose(1, &format!("print({n})\n")).as_bytes())
                    .and_then(|()| stream.shutdown(Shutdown::Read)),
            };
            tally.sent += 1;
            stream
        })
        .collect();
    told();
    until_stopped();
    drop(open);
    tally
}

/// Connects, asks and leaves without reading, or after it, as fast as it goes.
fn storm(socket: &Path, seconds: Duration) -> Tally {
    let mut tally = Tally::default();
    let begun = Instant::now();
    while begun.elapsed() < seconds {
        let Ok(mut stream) = UnixStream::connect(socket) else {
            tally.silent += 1;
            continue;
        };
        tally.sent += 1;
        let _ = stream.write_all(propose(1, "print(1)\n").as_bytes());
        if tally.sent % 2 == 0 {
            continue;
        }
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut line = String::new();
        match BufReader::new(stream).read_line(&mut line) {
            Ok(n) if n > 0 => tally.count(&line),
            _ => tally.silent += 1,
        }
    }
    tally
}

/// Answers each line with as many bytes as it names first.
fn echo(socket: &Path) {
    let listener = UnixListener::bind(socket).unwrap();
    told();
    let (stream, _) = listener.accept().unwrap();
    let mut answers = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let size: usize = line.split(' ').next().unwrap().parse().unwrap();
        answers
            .write_all(("x".repeat(size) + "\n").as_bytes())
            .unwrap();
    }
}

/// A peer that runs until it is stopped.
struct Peer {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Peer {
    fn start(kind: &str, socket: &Path, seconds: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["peer", kind])
            .arg(socket)
            .arg(seconds.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn ready(mut self) -> Self {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "ready");
        self
    }

    fn stop(mut self) -> Tally {
        drop(self.child.stdin.take());
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        self.child.wait().unwrap();
        let numbers: Vec<u64> = line
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        let mut tally = Tally::default();
        tally.add(numbers.try_into().unwrap());
        tally
    }
}

/// The resident memory of a process in MB, and its largest so far.
fn memory(pid: u32) -> [u64; 2] {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    ["VmRSS:", "VmHWM:"].map(|name| {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    })
}

/// One part: what the polite agent waited for, and the memory behind it.
struct Part {
    name: String,
    times: Times,
    memory: [u64; 2],
}

/// Milliseconds from a proposal to its verdict; each is withdrawn.
fn polite(agent: &mut Agent) -> Times {
    let time = |n| {
        let begun = Instant::now();
        let proposal = agent.propose(json!({"code": format!("print({n})\n"), "ttl_s": 60}));
        let took = ms(begun);
        agent.call("withdraw", json!({"id": proposal["id"]}));
        took
    };
    Times::of((0..POLITE).map(time).collect())
}

/// The same lengths to and fro without a dashboard.
fn bare(dash: &Dash) -> Times {
    let socket = dash.root().join("echo.sock");
    let peer = Peer::start("echo", &socket, 0).ready();
    let mut stream = UnixStream::connect(&socket).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let request = format!("{:<100}\n", 700);
    let time = |_| {
        let begun = Instant::now();
        stream.write_all(request.as_bytes()).unwrap();
        answers.read_line(&mut String::new()).unwrap();
        ms(begun)
    };
    let times = (0..POLITE).map(time).collect();
    let _ = stream.shutdown(Shutdown::Both);
    let mut peer = peer;
    peer.child.wait().unwrap();
    Times::of(times)
}

pub fn run(whole: bool) {
    python::ready();
    let seconds = if whole { 60 } else { 8 };
    let dash = Dash::with(&Options {
        config: CONFIG,
        ..Options::default()
    });
    let mut agent = dash.agent();
    let mut parts = Vec::new();
    let mut tallies: Vec<(&str, Tally)> = Vec::new();
    let part = |name: &str, agent: &mut Agent, parts: &mut Vec<Part>| {
        let times = polite(agent);
        parts.push(Part {
            name: name.to_owned(),
            times,
            memory: memory(dash.pid()),
        });
    };
    let bare = bare(&dash);
    polite(&mut agent);
    part("alone", &mut agent, &mut parts);

    let peer = Peer::start("connections", &dash.socket, 0).ready();
    part("1,000 connections were opened", &mut agent, &mut parts);
    tallies.push(("connections", peer.stop()));

    let half = Peer::start("half", &dash.socket, 0).ready();
    part("96 half-open peers", &mut agent, &mut parts);
    half.stop();

    let deaf = Peer::start("deaf", &dash.socket, 0).ready();
    part("16 peers that never read", &mut agent, &mut parts);
    tallies.push(("never read", deaf.stop()));

    let storm = Peer::start("storm", &dash.socket, 6);
    part("a storm of connections", &mut agent, &mut parts);
    tallies.push(("storm", storm.stop()));

    let begun = Instant::now();
    let waiting = Peer::start("pending", &dash.socket, 0).ready();
    let filled = begun.elapsed().as_secs_f64();
    part("10,000 wait for a person", &mut agent, &mut parts);

    let floods = [(); 2].map(|()| Peer::start("flood", &dash.socket, seconds));
    let begun = Instant::now();
    thread::sleep(Duration::from_secs(1));
    part(
        "10,000 wait, 5,000 a second offered",
        &mut agent,
        &mut parts,
    );
    // The rest of the flood: the largest memory is that of all of it.
    let mut flooded = Tally::default();
    floods
        .map(Peer::stop)
        .iter()
        .for_each(|t| flooded.add(t.numbers()));
    let lasted = begun.elapsed().as_secs_f64();
    let answered = flooded.sent - flooded.silent;
    tallies.push(("flood", flooded));
    tallies.push(("10,000 waiting", waiting.stop()));
    part("afterwards", &mut agent, &mut parts);

    println!(
        "\nA polite agent, {POLITE} proposals each; milliseconds to the verdict, MB of the dashboard.\n"
    );
    println!(
        "{:<40} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6}",
        "", "p50", "p99", "times", "times", "MB", "most"
    );
    let [bare50, bare99] = [0.5, 0.99].map(|share| bare.at(share));
    println!(
        "{:<40} {bare50:>8.3} {bare99:>8.3}",
        "a bare socket, the same lengths"
    );
    let alone = [0.5, 0.99].map(|share| parts[0].times.at(share));
    for Part {
        name,
        times,
        memory: [now, most],
    } in &parts
    {
        let [p50, p99] = [0.5, 0.99].map(|share| times.at(share));
        let [r50, r99] = [p50 / alone[0], p99 / alone[1]];
        println!("{name:<40} {p50:>8.3} {p99:>8.3} {r50:>8.2} {r99:>8.2} {now:>6} {most:>6}");
    }
    for (name, tally) in &tallies {
        println!("{name}: {}", tally.line());
    }
    println!(
        "{PENDING} proposals were waiting after {filled:.1} s; the flood of {lasted:.0} s had {:.0} answers a second",
        answered as f64 / lasted
    );
    let undated: u64 = tallies
        .iter()
        .map(|(_, tally)| tally.undated + tally.wrong)
        .sum();
    target("refusals without a time", undated as f64, 0.0);
    let silent = |name: &str| {
        tallies
            .iter()
            .filter(|(of, _)| *of == name)
            .map(|(_, t)| t.silent)
            .sum::<u64>()
    };
    let silent = silent("connections") + silent("flood") + silent("storm");
    target("requests without an answer", silent as f64, 0.0);
    let most = parts.iter().map(|part| part.memory[1]).max().unwrap();
    target("MB of the dashboard at most", most as f64, 256.0);
    let flooded = parts
        .iter()
        .find(|part| part.name.contains("offered"))
        .unwrap();
    target(
        "polite beside the flood, p50, times alone",
        flooded.times.at(0.5) / alone[0],
        5.0,
    );
}
