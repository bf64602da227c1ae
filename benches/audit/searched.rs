//! What the search for secrets costs: records with and without it in the same run, and hostile texts of one and of two
//! megabytes, which must take twice the time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use countersign::secrets::{Pattern, Redactor, Secrets};

use super::made;
use super::model::{Digest, ProposalId};

const LIVES: usize = 4_000;
const MEGABYTE: usize = 1 << 20;

pub fn compared() {
    let secrets = secrets();
    let lives: Vec<_> = (0..LIVES)
        .flat_map(|n| made::life(ProposalId::new(), n))
        .collect();
    let count = lives.len() as f64;
    let hashed = |bytes: &[u8]| black_box(Digest::of(bytes));
    let without = best(&mut || {
        for (event, blobs) in lives.clone() {
            hashed(&serde_json::to_vec(&event).unwrap());
            for blob in &blobs {
                hashed(&blob.bytes);
            }
        }
    });
    let with = best(&mut || {
        let mut redactor = Redactor::new(secrets.clone());
        for (event, blobs) in lives.clone() {
            let kept = redactor.redact(event, blobs);
            hashed(&serde_json::to_vec(kept.event()).unwrap());
            for blob in kept.blobs() {
                hashed(&blob.bytes);
            }
        }
    });
    let rate = |time: Duration| count / time.as_secs_f64();
    println!(
        "{:58} {:>9}",
        "records made into lines and hashed", "a second"
    );
    println!("{:58} {:>9.0}", "  as they are", rate(without));
    println!("{:58} {:>9.0}", "  searched for secrets", rate(with));
    let times = with.as_secs_f64() / without.as_secs_f64();
    println!("the search makes a record take {times:.2} x as long\n");
    println!(
        "{:58} {:>9} {:>9} {:>8}",
        "a hostile text", "1 MB, ms", "2 MB, ms", "x"
    );
    for (name, part) in HOSTILE {
        let [one, two] = [1, 2].map(|megabytes| {
            let text = part.repeat(megabytes * MEGABYTE / part.len());
            best(&mut || drop(black_box(secrets.find(&text)))).as_secs_f64() * 1e3
        });
        println!("{name:58} {one:>9.1} {two:>9.1} {:>8.2}", two / one);
    }
    println!();
}

/// With an environment and the largest patterns that a configuration may have.
fn secrets() -> Secrets {
    let variables = (0..20).map(|n| (format!("TOKEN_{n}"), format!("zQ8pa-77wo0rD-x{n}y")));
    let patterns = [
        r"a{4,200}b",
        r"(?:a|aa|aaa){4,60}c",
        r"[a-z]+[0-9]{4}[a-z]+!",
        r"EMP-[0-9]{6}",
    ];
    let patterns = patterns.map(|expression| Pattern::new("staff", expression).unwrap());
    Secrets::of(variables, patterns)
}

const HOSTILE: &[(&str, &str)] = &[
    ("a", "a"),
    ("quotes", "\""),
    ("quotes and backslashes", "\\\""),
    ("password", "password"),
    ("password and a blank", "password "),
    ("password = \"", "password = \""),
    ("password=(", "password=("),
    ("passwords = [\"a\", ", "passwords = [\"a\", "),
    ("password, a, b = ", "password, a, b = "),
    ("password: |", "password: |\n  "),
    ("token=", "token="),
    ("<password>", "<password>"),
    ("\"x\" == password", "\"x\" == password"),
    ("base64", "QkJDQUFBQUZnSGpLbE1u"),
    ("MII", "MII"),
    (
        "lines of base64",
        "MIIEa7KqxZ3m9BtRa7KqxZ3m9BtRa7KqxZ3m9BtRa7KqxZ3m9BtRa7KqxZ3m9Bt\n",
    ),
    ("BEGIN PRIVATE KEY", "-----BEGIN PRIVATE KEY-----\n"),
    (
        "BEGIN PRIVATE KEY and lines",
        "-----BEGIN PRIVATE KEY-----\nMIIEa7KqxZ3m9Bt\n",
    ),
    ("curl -u", "curl -u a"),
    ("mysql -p", "mysql -p"),
    ("http://a:", "http://a:"),
    ("eyJ", "eyJhbGciOiJIUzI1NiJ9."),
    ("AKIA", "AKIAA7KQX3ZM2BA7KQX3 "),
    ("percent", "%25"),
    ("escapes", "\u{1b}[31m"),
    ("cookie:", "cookie: a=b; "),
    ("lines", "\n"),
];

fn best(what: &mut dyn FnMut()) -> Duration {
    let times = (0..3).map(|_| {
        let begun = Instant::now();
        what();
        begun.elapsed()
    });
    times.min().unwrap_or_default()
}
