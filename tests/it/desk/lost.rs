//! A host whose engine is away: nothing is granted, agents hear why, and what ran is told of later.

use std::time::{Duration, Instant};

use serde_json::json;

use super::cluster::{self, url};
use super::seats::host;
use super::way::{Half, Way};
use crate::common::dash::PATIENCE;
use crate::common::given::is_given;
use crate::seats::{key_pair, offices};

#[test]
fn a_host_without_its_engine_grants_nothing_says_why_and_delivers_later() {
    if !is_given(
        std::process::Command::new("ssh-keygen").output().is_ok(),
        "ssh-keygen",
    ) {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    let (ana, ben) = (key_pair("ana@x"), key_pair("ben"));
    let offices = offices(&[("ana@x", 40_001, &ana.1), ("ben", 40_002, &ben.1)]);
    let way = Way::to(db.cluster);
    let a = host(
        offices.path(),
        "a",
        &url(way.folder(), 5432, "host_a", &db.name),
    );
    let reader = db.engine("rev_ana");
    let titles = || {
        let page = runtime.block_on(reader.offers(None)).unwrap();
        let bodies = page
            .rows
            .into_iter()
            .map(|row| String::from_utf8(row.body).unwrap());
        bodies.collect::<Vec<_>>()
    };
    // Not the host's screen, which may have nothing to draw.
    let arrives = |title: &str| {
        let until = Instant::now() + PATIENCE;
        while !titles().iter().any(|body| body.contains(title)) {
            assert!(Instant::now() < until, "{title} is not there");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let mut agent = a.agent();
    agent.propose(json!({"code": "print(1)\n", "title": "first"}));
    arrives("first");

    way.cut();
    a.wait_text("Not reached");
    let second = agent.propose(json!({"code": "print(2)\n", "title": "second", "ttl_s": 10}));
    let third = agent.propose(json!({"code": "print(3)\n", "title": "third"}));
    let outcome = agent.outcome(&second["id"]);
    assert_eq!(outcome["state"], "expired", "{outcome}");
    let message = outcome["message"].as_str().unwrap();
    assert!(
        message.contains("reviewers elsewhere could not be reached"),
        "{message}"
    );
    assert_eq!(agent.state(&third["id"]), "pending");

    way.join();
    arrives("third");
    // What ended while nobody could see it, nobody is asked about.
    assert!(!titles().iter().any(|body| body.contains("second")));
    assert_eq!(agent.state(&third["id"]), "pending");
    assert!(!a.log_text().contains("\"kind\":\"granted\""));
}

#[test]
fn a_way_that_carries_one_direction_only_is_found_out_and_loses_nothing() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    if !is_given(
        std::process::Command::new("ssh-keygen").output().is_ok(),
        "ssh-keygen",
    ) {
        return;
    }
    let ana = key_pair("ana@x");
    let offices = offices(&[("ana@x", 40_001, &ana.1)]);
    let way = Way::to(db.cluster);
    let a = host(
        offices.path(),
        "a",
        &url(way.folder(), 5432, "host_a", &db.name),
    );
    let reader = db.engine("rev_ana");
    let offers = |title: &str| {
        let page = runtime.block_on(reader.offers(None)).unwrap();
        let named = |body: &[u8]| String::from_utf8_lossy(body).contains(title);
        page.rows.iter().filter(|row| named(&row.body)).count()
    };
    let mut agent = a.agent();
    agent.propose(json!({"code": "print(1)\n", "title": "before"}));
    a.wait_for("the first offer", |_, _| offers("before") == 1);
    for (half, title) in [(Half::There, "not asked"), (Half::Back, "not answered")] {
        way.hold(half);
        let waits = agent.propose(json!({"code": "print(2)\n", "title": title}));
        a.wait_text("Not reached");
        assert_eq!(agent.state(&waits["id"]), "pending", "{half:?}");
        way.let_go();
        a.wait_for("it once it is back", |_, screen| {
            offers(title) == 1 && !screen.contains("Not reached")
        });
    }
    assert!(!a.log_text().contains("\"kind\":\"granted\""));
}

#[test]
fn a_host_needs_its_own_login_and_ends_what_a_start_before_left_open() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    if !is_given(
        std::process::Command::new("ssh-keygen").output().is_ok(),
        "ssh-keygen",
    ) {
        return;
    }
    let ana = key_pair("ana@x");
    let offices = offices(&[("ana@x", 40_001, &ana.1)]);
    for (login, words) in [
        ("host_b", "the one of the host `b`"),
        ("rev_ana", "one of a reviewer"),
        ("nobody_here", "does not exist"),
    ] {
        let wrong = host(offices.path(), "a", &db.url(login));
        wrong.wait_text("Not reached");
        wrong.wait_for(words, |host, screen| {
            screen
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains(words)
                || host.local_log().contains(words)
        });
    }
    let reader = db.engine("rev_ana");
    let first = host(offices.path(), "a", &db.url("host_a"));
    let mut agent = first.agent();
    agent.propose(json!({"code": "print(1)\n"}));
    let until = Instant::now() + PATIENCE;
    let id = loop {
        let page = runtime.block_on(reader.offers(None)).unwrap();
        match page.rows.first() {
            Some(row) => break row.proposal,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
        assert!(Instant::now() < until, "no offer came");
    };
    // As kill -9 does.
    drop(first);
    let _second = host(offices.path(), "a", &db.url("host_a"));
    loop {
        let page = runtime
            .block_on(reader.statements_for(&[id], None))
            .unwrap();
        let said = page
            .rows
            .first()
            .map(|row| String::from_utf8_lossy(&row.body).into_owned());
        if said.is_some_and(|said| said.contains("\"unattended\"")) {
            break;
        }
        assert!(Instant::now() < until, "the offer stays open");
        std::thread::sleep(Duration::from_millis(50));
    }
}
