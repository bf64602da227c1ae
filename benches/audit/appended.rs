//! Durable records, one by one and together, beside the same bytes in a file with `fdatasync` and in SQLite (WAL, FULL).

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Instant;

use countersign::audit::{self, WriterHandle};
use rusqlite::Connection;

use super::made;
use super::model::{Lane, ProposalId, Ticket};

const ALONE: usize = 1_000;
const TOGETHER: usize = 20_000;
/// Records in a transaction, or before a sync, of the peers.
const GROUP: usize = 100;

/// Prints microseconds for a record.
pub fn compared(folder: &Path) {
    let here = folder.join("appended");
    let _ = fs::remove_dir_all(&here);
    fs::create_dir(&here).unwrap();
    println!("{:58} {:>9}", "a durable record", "us");
    let mut own = Vec::new();
    let state = here.join("state");
    let (report, reports) = channel();
    let opened = audit::open(&state).unwrap();
    let handle: WriterHandle = opened.writer.start(Box::new(move |said| {
        let _ = report.send(said);
    }));
    let mut record = |name: &str, count: usize, at_once: usize| {
        let events: Vec<_> = (0..count)
            .map(|n| made::life(ProposalId::new(), n).remove(0).0)
            .collect();
        let begun = Instant::now();
        let mut waits = 0;
        for event in events {
            handle.submit_in(Lane::Agents, Ticket::Unawaited, event, Vec::new());
            waits += 1;
            if waits == at_once {
                (0..waits).for_each(|_| drop(reports.recv().unwrap()));
                waits = 0;
            }
        }
        (0..waits).for_each(|_| drop(reports.recv().unwrap()));
        own.push(line(name, begun, count));
    };
    record("  one after the other", ALONE, 1);
    record("  together", TOGETHER, 4_000);
    handle.close();
    let text = fs::read_to_string(state.join("log/00000001.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').skip(1).collect();
    let mut said = Vec::new();
    for (own, name, count, group) in [
        (own[0], "one after the other", ALONE, 1),
        (own[1], "together, 100 at once", TOGETHER, GROUP),
    ] {
        let mut file = File::create(here.join("raw")).unwrap();
        let begun = Instant::now();
        for lines in lines[..count].chunks(group) {
            file.write_all(lines.concat().as_bytes()).unwrap();
            file.sync_data().unwrap();
        }
        let bare = line(&format!("  append and fdatasync, {name}"), begun, count);
        let path = here.join("peer.sqlite3");
        let _ = fs::remove_file(&path);
        let mut peer = Connection::open(&path).unwrap();
        let set = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE log (seq INTEGER PRIMARY KEY, line TEXT)";
        peer.execute_batch(set).unwrap();
        let begun = Instant::now();
        for lines in lines[..count].chunks(group) {
            let turn = peer.transaction().unwrap();
            for line in lines {
                turn.prepare_cached("INSERT INTO log (line) VALUES (?1)")
                    .unwrap()
                    .execute([line])
                    .unwrap();
            }
            turn.commit().unwrap();
        }
        let peer = line(&format!("  SQLite, WAL and FULL, {name}"), begun, count);
        said.push(format!(
            "{name}: a record takes {:.2} x append and fdatasync, {:.2} x SQLite",
            own / bare,
            own / peer
        ));
    }
    said.iter().for_each(|said| println!("{said}"));
    fs::remove_dir_all(here).unwrap();
    println!();
}

fn line(name: &str, begun: Instant, count: usize) -> f64 {
    let micros = begun.elapsed().as_secs_f64() * 1e6 / count as f64;
    println!("{name:58} {micros:>9.1}");
    micros
}
