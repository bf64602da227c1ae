//! From a person's vote to the end of the run it grants: over the engine, over the socket of one machine, and a bare round trip.

use std::process::Command;
use std::time::{Duration, Instant};

use countersign::broker::offer::Offer;
use countersign::desk::engine::{Duty, Member, VoteRow};
use countersign::desk::local::Client;
use countersign::desk::wire::{FromHost, ToHost};
use countersign::model::{NAMESPACE, Viewed, Vote, VoteKind};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::cluster::{self, Database};
use crate::common::dash::{Dash, Options};
use crate::shown;

const TIMES: usize = 40;
const POLICY: &str =
    "name = \"grave\"\nextends = \"analysis\"\n[grant]\nquorum = 1\nnot_self = false\n";

pub fn measure(runtime: &Runtime) {
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    let me = nix::unistd::getuid().as_raw();
    let key = tempfile::tempdir().unwrap();
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
        .arg(key.path().join("key"))
        .status();
    if !made.is_ok_and(|made| made.success()) {
        println!("skipped: no ssh-keygen");
        return;
    }
    let public = std::fs::read_to_string(key.path().join("key.pub")).unwrap();
    let office = office(&public, me);
    let at = |name: &str| office.path().join(name).display().to_string();
    let config = format!(
        "profile = \"grave\"\nprofiles = [\"grave\"]\n[desk]\nname = \"a\"\nurl = {:?}\nsigners = {:?}\npeople = {:?}\n\
         revoked = {:?}\nsocket = {:?}\n",
        db.url("host_a"),
        at("allowed_signers"),
        at("people.toml"),
        at("revoked_keys"),
        at("desk.sock")
    );
    let login = Member {
        login: "rev_me".parse().unwrap(),
        duty: Duty::Reviewer("me".parse().unwrap(), [].into()),
    };
    runtime
        .block_on(db.engine("postgres").add_member(&login))
        .unwrap();
    let host = Dash::with(&Options {
        config: &config,
        policies: &[("grave.toml", POLICY)],
        ..Options::default()
    });
    let mut client = runtime
        .block_on(Client::connect(&office.path().join("desk.sock")))
        .unwrap();
    let (mut across, mut here) = (Vec::new(), Vec::new());
    // The first runs make what later ones find ready.
    for round in 0..2 * (TIMES + 5) {
        let is_across = round % 2 == 0;
        let time = granted(runtime, &host, &db, &mut client, key.path(), is_across);
        if round >= 10 {
            match is_across {
                true => across.push(time),
                false => here.push(time),
            }
        }
    }
    let mut bare = runtime.block_on(round_trips(&db));
    let middle = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64()
    };
    let ratio = middle(&mut across) / middle(&mut here);
    println!(
        "vote to the end of its run, over the engine   {}",
        shown(&mut across)
    );
    println!(
        "                            over the socket   {}   ratio {ratio:.2}",
        shown(&mut here)
    );
    println!(
        "bare INSERT, NOTIFY and its arrival           {}",
        shown(&mut bare)
    );
}

fn office(public: &str, uid: u32) -> TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir()
        .unwrap();
    let signers = format!("me namespaces=\"grant@countersign\" {public}");
    let people = format!("[people.me]\nuids = [{uid}]\nlogins = [\"rev_me\"]\n");
    for (name, text) in [
        ("allowed_signers", signers),
        ("people.toml", people),
        ("revoked_keys", String::new()),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    dir
}

fn granted(
    runtime: &Runtime,
    host: &Dash,
    db: &Database,
    client: &mut Client,
    key: &std::path::Path,
    is_across: bool,
) -> Duration {
    let mut agent = host.agent();
    let proposed = agent.propose(json!({"code": "print(6 * 7)\n"}));
    let id = proposed["id"].as_str().unwrap().to_owned();
    let body = runtime.block_on(async {
        loop {
            if let FromHost::Offer(signed) = client.next().await.unwrap()
                && signed.body.contains(&id)
            {
                return signed.body;
            }
        }
    });
    let offer = Offer::read(body.as_bytes()).unwrap();
    let voter = "me".parse().unwrap();
    let viewed = Viewed {
        lines_seen: 1,
        ..Viewed::default()
    };
    let text = offer
        .ballot(body.as_bytes())
        .text(VoteKind::Grant, &voter, &viewed, None);
    let path = key.join("text");
    std::fs::write(&path, text).unwrap();
    let armour = path.with_extension("sig");
    let _ = std::fs::remove_file(&armour);
    let signed = Command::new("ssh-keygen")
        .args(["-q", "-Y", "sign", "-n", NAMESPACE, "-f"])
        .arg(key.join("key"))
        .arg(&path)
        .output()
        .unwrap();
    assert!(signed.status.success(), "{signed:?}");
    let vote = Vote {
        kind: VoteKind::Grant,
        voter,
        viewed,
        reason: None,
        signature: std::fs::read_to_string(&armour).unwrap(),
    };
    let person = db.engine("rev_me");
    // The offer is there too, and the connection open.
    runtime.block_on(async {
        while !person
            .offers(None)
            .await
            .unwrap()
            .rows
            .iter()
            .any(|row| row.proposal == offer.proposal)
        {
            tokio::task::yield_now().await;
        }
    });
    let begun = Instant::now();
    runtime.block_on(async {
        match is_across {
            true => {
                let row = VoteRow {
                    host: "a".to_owned(),
                    proposal: offer.proposal,
                    version: offer.version,
                    kind: vote.kind,
                    voter: vote.voter.clone(),
                    body: serde_json::to_vec(&vote).unwrap(),
                    login: String::new(),
                };
                person.cast(&row).await.unwrap();
            }
            false => {
                let vote = ToHost::Vote {
                    proposal: offer.proposal,
                    version: offer.version,
                    vote,
                };
                client.send(&vote).await.unwrap();
            }
        }
    });
    let outcome = agent.outcome(&proposed["id"]);
    let time = begun.elapsed();
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    time
}

/// One connection adds a row and notifies, another one hears it.
async fn round_trips(db: &Database) -> Vec<Duration> {
    let admin = db.client("postgres").await;
    admin
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS public.bare (id bigserial PRIMARY KEY, body bytea)",
        )
        .await
        .unwrap();
    let (listens, mut connection) =
        tokio_postgres::connect(&db.url("postgres"), tokio_postgres::NoTls)
            .await
            .unwrap();
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) =
            std::future::poll_fn(|context| connection.poll_message(context)).await
        {
            if matches!(message, tokio_postgres::AsyncMessage::Notification(_)) {
                let _ = heard.send(());
            }
        }
    });
    listens.batch_execute("LISTEN bare").await.unwrap();
    let mut times = Vec::new();
    for _ in 0..200 {
        let begun = Instant::now();
        admin
            .batch_execute("INSERT INTO public.bare (body) VALUES ('x'); NOTIFY bare")
            .await
            .unwrap();
        hears.recv().await.unwrap();
        times.push(begun.elapsed());
    }
    times
}
