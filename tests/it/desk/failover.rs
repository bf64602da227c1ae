//! An engine that dies, and a replica that lags behind it: what was acknowledged is handed in again, and nothing runs twice.

use std::time::Instant;

use serde_json::json;

use super::cluster::{self, url};
use super::seats::{host, host_line, seat};
use super::way::Way;
use crate::common::dash::PATIENCE;
use crate::seats::{grants, key_pair, offices, users};

#[test]
fn what_a_replica_never_heard_is_handed_in_again_and_runs_once() {
    let Some([one, two]) = users(["daemon", "bin"]) else {
        return;
    };
    if cluster::cluster().is_none() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let primary = cluster::another();
    let (ana, ben) = (key_pair("ana@x"), key_pair("ben"));
    let offices = offices(&[("ana@x", one, &ana.1), ("ben", two, &ben.1)]);
    let (hosts_way, seats_way) = (Way::to(&primary), Way::to(&primary));
    let a = host(
        offices.path(),
        "a",
        &url(hosts_way.folder(), 5432, "host_a", "tpl"),
    );
    let hosts = host_line("a", &a);
    let at = |login: &str| url(seats_way.folder(), 5432, login, "tpl");
    let mut ana = seat(&at("rev_ana"), &hosts, one, &ana);
    let mut ben = seat(&at("rev_ben"), &hosts, two, &ben);
    let voted = |n: usize| a.log_text().matches("\"kind\":\"voted\"").count() == n;
    let mut agent = a.agent();
    let early = agent.propose(json!({"code": "print(1)\n", "title": "early"}));
    ana.wait_text("early");
    grants(&mut ana, || voted(1));

    let replica = cluster::copy(&primary);
    // What expires first is what a seat turns to.
    let late = agent.propose(json!({"code": "print(2)\n", "title": "late", "ttl_s": 900}));
    ana.wait_text("late");
    grants(&mut ana, || voted(2));
    // The engine takes a vote that the host does not get.
    ben.wait_text("late");
    hosts_way.cut();
    a.wait_text("Not reached");
    let admin = runtime.block_on(primary.client("postgres", "tpl"));
    grants(&mut ben, || {
        let sql = "SELECT count(*) FROM desk.vote WHERE login = 'rev_ben'";
        let row = runtime.block_on(admin.query_one(sql, &[])).unwrap();
        row.get::<_, i64>(0) == 1
    });
    drop(primary);
    runtime.block_on(replica.promote());
    hosts_way.lead_to(&replica);
    seats_way.cut();
    seats_way.lead_to(&replica);

    let outcome = agent.outcome(&late["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    assert_eq!(outcome["run"]["stdout"], "2\n");
    // What the replica has is the offer; the vote on it is in the host's log, and still counts.
    assert_eq!(agent.state(&early["id"]), "pending");
    let until = Instant::now() + PATIENCE;
    ben.wait_while(until, |text| !text.contains("early"));
    grants(&mut ben, || voted(4));
    let outcome = agent.outcome(&early["id"]);
    assert_eq!(outcome["run"]["stdout"], "1\n", "{outcome}");
    let log = a.log_text();
    for kind in ["granted", "started", "finished"] {
        let times = log.matches(&format!("\"kind\":\"{kind}\"")).count();
        assert_eq!(times, 2, "{kind}: {log}");
    }
    let verified = a.cli(&["audit", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
}
