//! Prints the tables and whether the targets are met.

use std::time::Duration;

/// One program's results for the functions and the large file.
pub struct Row {
    pub name: String,
    /// One time per function.
    pub times: Vec<Duration>,
    /// The number of functions it could not read.
    pub failed: usize,
    pub large: Option<Duration>,
}

/// One program's time for the whole folder.
pub struct Timed {
    pub name: &'static str,
    pub took: Duration,
}

impl Timed {
    pub fn new(name: &'static str, took: Duration) -> Self {
        Self { name, took }
    }
}

impl Row {
    fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        micros(sorted.get(at).copied().unwrap_or_default())
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

/// Prints the times for single functions. Ratios are to the first row: above 1 is slower.
pub fn each(rows: &[Row], bytes: usize, large: usize) {
    println!(
        "{:<26}{:>9}{:>9}{:>9}{:>9}{:>10}{:>9}{:>9}{:>8}",
        "", "p50 µs", "p99 µs", "MB/s", "× p50", "1 MB: ms", "MB/s", "×", "failed"
    );
    let Some(ours) = rows.first() else { return };
    for row in rows {
        let total: Duration = row.times.iter().sum();
        print!(
            "{:<26}{:>9.1}{:>9.1}{:>9.2}{:>9.2}",
            row.name,
            row.percentile(50),
            row.percentile(99),
            rate(bytes, total),
            row.percentile(50) / ours.percentile(50),
        );
        match (row.large, ours.large) {
            (Some(time), Some(own)) => print!(
                "{:>10.1}{:>9.2}{:>9.2}",
                millis(time),
                rate(large, time),
                time.as_secs_f64() / own.as_secs_f64()
            ),
            _ => print!("{:>10}{:>9}{:>9}", "-", "-", "-"),
        }
        println!("{:>8}", row.failed);
    }
    println!();
}

pub fn whole(runs: &[Timed]) {
    println!("{:<40}{:>9}{:>9}", "the folder as a whole", "ms", "× ruff");
    let Some(ruff) = runs.first() else { return };
    for run in runs {
        println!(
            "{:<40}{:>9.1}{:>9.2}",
            run.name,
            millis(run.took),
            run.took.as_secs_f64() / ruff.took.as_secs_f64()
        );
    }
    println!();
}

/// Prints which targets are met.
pub fn targets(rows: &[Row], runs: &[Timed]) {
    let p50 = |name: &str| {
        let row = rows.iter().find(|r| r.name == name);
        row.map_or(f64::NAN, |r| r.percentile(50))
    };
    let ours = p50("countersign");
    let took = |at: usize| runs.get(at).map_or(f64::NAN, |r| r.took.as_secs_f64());
    let walk = ours / p50("ast.parse + walk");
    let bandit = p50("bandit") / ours;
    let folder = took(2).min(took(3)) / took(0);
    for (what, found, met) in [
        ("median at most that of ast.parse + walk", walk, walk <= 1.0),
        ("at least 8 × as fast as bandit", bandit, bandit >= 8.0),
        (
            "the folder within 3 × of ruff on one thread",
            folder,
            folder <= 3.0,
        ),
    ] {
        let met = if met { "met" } else { "MISSED" };
        println!("target: {what}: {found:.2}, {met}");
    }
}
