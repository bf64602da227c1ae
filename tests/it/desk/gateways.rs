//! Agents elsewhere: `countersign mcp --desk` asks hosts over the engine, and one of them at most runs what one call asks.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use countersign::desk::asking::{Answer, AnswerSays, Asks, Request, RequestFormat};
use countersign::desk::engine::{Engine, RequestRow, StatementRow};
use countersign::model::ProposalId;
use jiff::{SignedDuration, Timestamp};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::cluster::{self, Database};
use crate::common::dash::{Dash, Options, PATIENCE, cli, folder};
use crate::common::given::is_given;
use crate::host::Host;
use crate::mcp::raw::{Client, part, text};
use crate::seats::{denies, grants, key_pair, offices, users};

/// One person of `data` has to grant it.
const GRAVE: &str = "name = \"grave\"\nextends = \"analysis\"\n[grant]\nroles = [\"data\"]\n";
const RARE: &str = "kind,n\nx,1\ny,41\n";

/// A host without a screen, with this data set.
fn host(offices: &Path, name: &str, dataset: &str, url: &str) -> Host {
    let at = |name: &str| offices.join(name).display().to_string();
    let config = format!(
        "profile = \"grave\"\nprofiles = [\"grave\"]\n[datasets.{dataset}]\npath = \"rare.csv\"\nsensitivity = \"public\"\n\
         [desk]\nname = {name:?}\nurl = {url:?}\nsigners = {:?}\npeople = {:?}\nrevoked = {:?}\n",
        at("allowed_signers"),
        at("people.toml"),
        at("revoked_keys"),
    );
    Host::start(folder(&Options {
        config: &config,
        files: &[("rare.csv", RARE)],
        policies: &[("grave.toml", GRAVE)],
        ..Options::default()
    }))
}

/// The person ana, whose agents ask by `gate_y`; those of `gate_x` are nobody's.
fn people(uid: u32, public: &str) -> TempDir {
    let offices = offices(&[("ana@x", uid, public)]);
    let path = offices.path().join("people.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replace("uids = [0]\n", "uids = [0]\nlogins = [\"gate_x\"]\n");
    let text = text.replace("[\"rev_ana\"]", "[\"rev_ana\", \"gate_y\"]");
    std::fs::write(path, text).unwrap();
    offices
}

fn line(name: &str, host: &Host) -> String {
    let key = std::fs::read_to_string(host.state().join("desk/host_key.pub")).unwrap();
    format!("{name} {key}")
}

/// The folder of an agent's machine.
fn elsewhere(url: &str, hosts: &str) -> TempDir {
    folder(&Options {
        config: &format!("[desk]\nhosts = \"hosts\"\nurl = {url:?}\n"),
        files: &[("hosts", hosts)],
        ..Options::default()
    })
}

fn mcp(folder: &TempDir, args: &[&str]) -> Child {
    cli(folder.path(), &[&["mcp", "--desk"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn agent(folder: &TempDir, args: &[&str]) -> Client {
    let mut client = Client::over(mcp(folder, args));
    client.initialize("2025-11-25", &json!({}));
    client
}

fn state(result: &Value) -> &str {
    result["structuredContent"]["state"]
        .as_str()
        .unwrap_or_else(|| panic!("no state: {result}"))
}

/// Waits for the end as an agent does, which is told to call again.
fn ended(agent: &mut Client, id: &Value) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let result = agent.tool("wait_for_run", json!({"id": id, "wait_s": 5}));
        match state(&result) {
            "pending" | "granted" | "running" => {
                assert!(Instant::now() < until, "no end: {result}");
            }
            _ => return result,
        }
    }
}

#[test]
fn an_agent_elsewhere_asks_the_host_that_has_the_data_and_hears_every_end() {
    let Some([one]) = users(["daemon"]) else {
        return;
    };
    let runtime = Runtime::new().unwrap();
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    let ana = key_pair("ana@x");
    let offices = people(one, &ana.1);
    let mut a = host(offices.path(), "a", "sales", &db.url("host_a"));
    let b = host(offices.path(), "b", "rare", &db.url("host_b"));
    let hosts = [line("a", &a), line("b", &b)].concat();
    let away = elsewhere(&db.url("gate_x"), &hosts);
    let mut agent = agent(&away, &[]);

    let listed = agent.tool("list_datasets", json!({}));
    let listed = listed["structuredContent"]["datasets"].clone();
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|d| (&d["name"], &d["host"]))
        .collect();
    assert_eq!(json!(names), json!([["rare", "b"], ["sales", "a"]]));
    let inputs = json!({"df": {"dataset": "rare"}});
    let checked = agent.tool(
        "check_python",
        json!({"code": "print(df.nope)\n", "inputs": inputs}),
    );
    assert!(
        checked["structuredContent"]["verdict"].is_string(),
        "{checked}"
    );

    // Granted, at the second host: the first one signed that it has not got it.
    let code = "df.to_csv('out.csv', index=False)\nprint('sum', int(df.n.sum()))\n";
    let asked = agent.tool(
        "run_python",
        json!({"code": code, "title": "rare sum", "inputs": inputs, "wait_s": 0}),
    );
    assert_eq!(state(&asked), "pending", "{asked}");
    let id = asked["structuredContent"]["id"].clone();
    let mut seat = Dash::launch(&Options {
        config: &format!(
            "[desk]\nhosts = \"hosts\"\nkey = \"key\"\nurl = {:?}\n",
            db.url("rev_ana")
        ),
        files: &[("hosts", &hosts), ("key", &ana.0), ("key.pub", &ana.1)],
        args: &["review"],
        size: (100, 30),
        uid: Some(one),
        ..Options::default()
    });
    seat.wait_text("rare sum");
    seat.wait_text("gateway gate_x");
    grants(&mut seat, || b.records("voted") == 1);
    let ran = ended(&mut agent, &id);
    assert_eq!(state(&ran), "succeeded", "{ran}");
    assert_eq!(part(&ran, "stdout"), "sum 42\n");
    let file = agent.tool("read_artifact", json!({"id": id, "name": "out.csv"}));
    assert!(text(&file).contains("y,41"), "{file}");
    assert_eq!((a.records("proposed"), b.records("proposed")), (0, 1));
    let log = crate::common::dash::log_text(&b.state());
    assert!(log.contains("\"gateway\":\"gate_x\""), "{log}");
    // Nobody who votes reads what came out.
    let asked = runtime.block_on(async {
        db.engine("rev_ana")
            .statements_for(&requests(&db).await, None)
            .await
    });
    assert_eq!(asked.unwrap().rows, []);

    // Denied, expired, and refused as on the socket.
    let sales = json!({"df": {"dataset": "sales"}});
    let denied = agent.tool(
        "run_python",
        json!({"code": "print(1)\n", "title": "another", "inputs": sales, "wait_s": 0}),
    );
    let id = denied["structuredContent"]["id"].clone();
    denies(&mut seat, "another", "not today");
    let denied = ended(&mut agent, &id);
    assert_eq!(state(&denied), "denied");
    assert!(text(&denied).contains("not today"), "{denied}");
    let late = agent.tool("run_python", json!({"code": "print(2)\n", "ttl_s": 1}));
    assert_eq!(state(&late), "expired", "{late}");
    for (arguments, words) in [
        (
            json!({"code": "print(1)\n", "profile": "grove"}),
            "did you mean `grave`?",
        ),
        (
            json!({"code": "print(1)\n", "inputs": {"df": {"dataset": "rar"}}}),
            "did you mean `rare`?",
        ),
        (json!({"code": ""}), "the code is empty"),
        (json!({"code": "x".repeat(1 << 20)}), "Send less"),
    ] {
        let refused = agent.tool("run_python", arguments);
        assert!(text(&refused).contains(words), "{words}: {refused}");
    }

    // What ana's own agent asks, nobody else could grant here.
    let own = elsewhere(&db.url("gate_y"), &hosts);
    let mut own = self::agent(&own, &["--host", "a"]);
    let asked = own.tool(
        "run_python",
        json!({"code": "print(3)\n", "title": "her own", "wait_s": 0}),
    );
    let told = ended(&mut own, &asked["structuredContent"]["id"]);
    assert_eq!(state(&told), "error", "{told}");
    assert!(text(&told).contains("none of them may vote"), "{told}");
    a.wait_said("no votes can grant it");
    // Another's id is unknown.
    let other = agent.tool(
        "wait_for_run",
        json!({"id": asked["structuredContent"]["id"]}),
    );
    assert!(text(&other).contains("-32004"), "{other}");
    for host in [&a, &b] {
        let verified = host.runs(&["audit", "verify"]);
        assert!(verified.status.success(), "{verified:?}");
    }
}

/// The names of all requests, which an administrator sees.
async fn requests(db: &Database) -> Vec<ProposalId> {
    let rows = db.client("postgres").await;
    let rows = rows
        .query("SELECT id FROM desk.request", &[])
        .await
        .unwrap();
    rows.iter()
        .map(|row| ProposalId::from_uuid(row.get("id")))
        .collect()
}

/// A request as a gateway's program makes one.
fn request(host: &str, taken_by: Timestamp, params: Value) -> RequestRow {
    let request = Request {
        format: RequestFormat::V1,
        host: host.to_owned(),
        taken_by,
        session: "s".to_owned(),
        asks: Asks::Call {
            method: "propose".to_owned(),
            params,
        },
    };
    RequestRow {
        host: host.to_owned(),
        id: Uuid::new_v4(),
        deadline: Timestamp::from_second(Timestamp::now().as_second() + 3600).unwrap(),
        body: request.bytes(),
        login: String::new(),
    }
}

/// Everything that hosts say to a request, once there is as much.
fn heard(runtime: &Runtime, gate: &Engine, row: &RequestRow, least: usize) -> Vec<AnswerSays> {
    let until = Instant::now() + PATIENCE;
    loop {
        let said = runtime.block_on(gate.statements_for(&[ProposalId::from_uuid(row.id)], None));
        let said: Vec<_> = said
            .unwrap()
            .rows
            .iter()
            .map(|row| Answer::read(&row.body).unwrap().says)
            .collect();
        if said.len() >= least {
            return said;
        }
        assert!(Instant::now() < until, "only {said:?} is said");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn no_request_is_proposed_twice_and_none_is_answered_but_by_its_host() {
    if !is_given(
        std::process::Command::new("ssh-keygen").output().is_ok(),
        "ssh-keygen",
    ) {
        return;
    }
    let runtime = Runtime::new().unwrap();
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    let ana = key_pair("ana@x");
    let offices = people(40_001, &ana.1);
    let a = host(offices.path(), "a", "sales", &db.url("host_a"));
    let (x, y) = (db.engine("gate_x"), db.engine("gate_y"));
    let soon = || Timestamp::now() + SignedDuration::from_mins(5);
    let put = |row: &RequestRow| runtime.block_on(x.request(row)).unwrap();
    let code = |n: u32| json!({"code": format!("print({n})\n")});

    // Too late, for another host, nothing, and withdrawn before it was read.
    let late = request(
        "a",
        Timestamp::now() - SignedDuration::from_secs(1),
        code(0),
    );
    put(&late);
    let said = heard(&runtime, &x, &late, 1);
    assert!(
        matches!(&said[..], [AnswerSays::NotTaken { why }] if why.contains("too late")),
        "{said:?}"
    );
    let mut wrong = request("b", soon(), code(0));
    wrong.host = "a".to_owned();
    let mut odd = request("a", soon(), code(0));
    odd.body = b"{\"method\": \"grant\"}".to_vec();
    let far = request("a", soon() + SignedDuration::from_hours(1), code(0));
    for row in [&wrong, &odd, &far] {
        put(row);
        let said = heard(&runtime, &x, row, 1);
        assert!(matches!(&said[..], [AnswerSays::Refused(_)]), "{said:?}");
    }
    assert_eq!(a.records("proposed"), 0);

    // Taken once, also where the engine forgets what was said and the host is killed.
    let asked = request("a", soon(), code(1));
    put(&asked);
    let said = heard(&runtime, &x, &asked, 2);
    let [AnswerSays::Taken, AnswerSays::Proposed(proposed)] = &said[..] else {
        panic!("{said:?}");
    };
    assert_eq!(proposed["state"], "pending");
    assert_eq!(a.records("proposed"), 1);
    // Another gateway under the same name reads nothing of it, and asks something of its own.
    let mut same = asked.clone();
    same.body = request("a", soon(), code(2)).body;
    runtime.block_on(y.request(&same)).unwrap();
    let said = heard(&runtime, &y, &same, 2);
    let [AnswerSays::Taken, AnswerSays::Proposed(other)] = &said[..] else {
        panic!("{said:?}");
    };
    assert_ne!(other["id"], proposed["id"]);
    assert_eq!(heard(&runtime, &x, &asked, 2).len(), 2);

    let (dir, _) = a.ends(Signal::SIGKILL);
    runtime.block_on(async {
        let admin = db.client("postgres").await;
        admin
            .batch_execute("TRUNCATE desk.statement")
            .await
            .unwrap();
    });
    let a = Host::start(dir);
    let said = heard(&runtime, &x, &asked, 1);
    let [AnswerSays::Ended(outcome)] = &said[..] else {
        panic!("{said:?}");
    };
    assert_eq!(
        (&outcome["id"], &outcome["state"]),
        (&proposed["id"], &json!("error"))
    );
    // What comes behind it is answered, so it was read; and still nothing was proposed again.
    let next = request("a", soon(), code(3));
    put(&next);
    heard(&runtime, &x, &next, 2);
    assert_eq!(a.records("proposed"), 3);

    // A flood is bounded by the engine, and the host goes on.
    let flood = "INSERT INTO desk.request (host, id, deadline, body) \
                 SELECT 'a', gen_random_uuid(), now() + interval '1 minute', '' FROM generate_series(1, 1000)";
    runtime.block_on(async {
        let refused = db.client("gate_y").await.batch_execute(flood).await;
        let why = refused.unwrap_err();
        assert!(
            why.as_db_error()
                .unwrap()
                .message()
                .contains("which is the most"),
            "{why}"
        );
        let less = flood.replace("1000", "900");
        db.client("gate_y")
            .await
            .batch_execute(&less)
            .await
            .unwrap();
    });
    let last = request("a", soon(), code(4));
    put(&last);
    heard(&runtime, &x, &last, 2);
    assert_eq!(a.records("proposed"), 4);

    // Nor where the host's folder is an older one, which knows nothing of it.
    let refused = request("a", soon(), json!({"code": ""}));
    put(&refused);
    let said = heard(&runtime, &x, &refused, 2);
    assert!(
        matches!(&said[..], [AnswerSays::Taken, AnswerSays::Refused(_)]),
        "{said:?}"
    );
    let (dir, _) = a.ends(Signal::SIGKILL);
    let notes = dir.path().join("state/desk/requests");
    let text = std::fs::read_to_string(&notes).unwrap();
    let id = refused.id.to_string();
    let older: Vec<&str> = text.lines().filter(|line| !line.contains(&id)).collect();
    std::fs::write(&notes, older.join("\n")).unwrap();
    let a = Host::start(dir);
    let said = heard(&runtime, &x, &refused, 3);
    assert!(
        matches!(&said[2..], [AnswerSays::NotTaken { why }] if why.contains("before")),
        "{said:?}"
    );
    assert_eq!(a.records("proposed"), 4);
}

#[test]
fn the_next_host_is_asked_only_once_the_first_can_do_nothing_of_it_any_more() {
    if !is_given(
        std::process::Command::new("ssh-keygen").output().is_ok(),
        "ssh-keygen",
    ) {
        return;
    }
    let runtime = Runtime::new().unwrap();
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    let ana = key_pair("ana@x");
    let offices = people(40_001, &ana.1);
    let a = host(offices.path(), "a", "sales", &db.url("host_a"));
    let b = host(offices.path(), "b", "sales", &db.url("host_b"));
    let hosts = [line("a", &a), line("b", &b)].concat();
    let (dir, _) = a.ends(Signal::SIGKILL);
    let away = elsewhere(&db.url("gate_x"), &hosts);
    let mut agent = agent(&away, &[]);
    let call = agent.begin("run_python", json!({"code": "print(1)\n", "wait_s": 0}));
    // What nobody signed, another one signed, or is the answer to something else, changes nothing.
    let admin = runtime.block_on(db.client("postgres"));
    let until = Instant::now() + PATIENCE;
    let id: Uuid = loop {
        let row = runtime.block_on(admin.query_opt("SELECT id FROM desk.request", &[]));
        if let Some(row) = row.unwrap() {
            break row.get("id");
        }
        assert!(Instant::now() < until, "nothing was asked");
        std::thread::sleep(Duration::from_millis(20));
    };
    forge(&runtime, &db, id, &b);
    let asked = agent.result(call);
    assert_eq!(state(&asked), "pending", "{asked}");
    assert_eq!(b.records("proposed"), 1, "{asked}");
    // The first one is back, and says that it does nothing of it.
    let a = Host::start(dir);
    let gate = db.engine("gate_x");
    let row = RequestRow {
        id,
        ..request("a", Timestamp::now(), Value::Null)
    };
    let before = heard(&runtime, &gate, &row, 0);
    assert!(
        before.iter().all(|says| !matches!(says, AnswerSays::Taken)),
        "{before:?}"
    );
    let until = Instant::now() + PATIENCE;
    while !own(&runtime, &gate, id, "a")
        .iter()
        .any(|says| matches!(says, AnswerSays::NotTaken { .. }))
    {
        assert!(Instant::now() < until, "a says nothing:\n{}", a.said());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(a.records("proposed"), 0);

    // An engine that is away is named, and nothing is lost by it.
    let id = asked["structuredContent"]["id"].clone();
    let withdraws = agent.begin("wait_for_run", json!({"id": id}));
    agent.cancel(withdraws);
    assert_eq!(state(&ended(&mut agent, &id)), "withdrawn");
    assert_eq!(b.records("withdrawn"), 1);
}

/// What a host signed to a request, but for what was forged.
fn own(runtime: &Runtime, gate: &Engine, id: Uuid, host: &str) -> Vec<AnswerSays> {
    let said = runtime.block_on(gate.statements_for(&[ProposalId::from_uuid(id)], None));
    let rows = said.unwrap().rows;
    rows.iter()
        .filter(|row| row.host == host)
        .filter_map(|row| Answer::read(&row.body).ok())
        .filter(|answer| answer.number > 9)
        .map(|answer| answer.says)
        .collect()
}

/// Rows of a superuser: an answer of the first host under the key of another one, and one of that host to something else.
fn forge(runtime: &Runtime, db: &Database, id: Uuid, other: &Host) {
    let key = countersign::desk::HostKey::open_or_make(&other.state()).unwrap();
    let mut number = 0;
    runtime.block_on(async {
        let admin = db.client("postgres").await;
        let body: Vec<u8> = admin
            .query_one("SELECT body FROM desk.request WHERE id = $1", &[&id])
            .await
            .unwrap()
            .get("body");
        for (host, asked) in [("a", body.as_slice()), ("b", b"something else")] {
            number += 1;
            let answer = Answer {
                format: countersign::desk::asking::AnswerFormat::V1,
                host: host.to_owned(),
                host_key: key.public().fingerprint().to_owned(),
                gateway: "gate_x".to_owned(),
                request: id,
                asked: countersign::model::Digest::of(asked),
                number,
                at: Timestamp::now(),
                says: AnswerSays::Proposed(json!({"id": Uuid::now_v7(), "state": "granted"})),
            };
            let body = answer.bytes();
            let row = StatementRow {
                host: host.to_owned(),
                proposal: ProposalId::from_uuid(id),
                seq: number,
                to: None,
                gateway: Some("gate_x".to_owned()),
                occasion: countersign::desk::engine::Occasion::Decision,
                signature: key.sign(&body).unwrap(),
                body,
            };
            db.engine(&format!("host_{host}"))
                .publish_statement(&row)
                .await
                .unwrap();
        }
    });
}
