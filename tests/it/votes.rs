//! Two people for one grant: a dashboard whose policy asks for them, and two others who vote from terminals of their own,
//! each as another user.

use serde_json::json;

use crate::common::dash::{Dash, Options};
use crate::seats::{GRAVE, config, denies, grants, hosts, key_pair, offices, seat, users};

#[test]
fn two_people_at_terminals_of_their_own_grant_and_one_of_them_denies() {
    let Some([one, two, three]) = users(["daemon", "bin", "sys"]) else {
        return;
    };
    let (ben, cyd) = (key_pair("ben"), key_pair("cyd"));
    let offices = offices(&[("ben", one, &ben.1), ("cyd", two, &cyd.1)]);
    let host = Dash::with(&Options {
        config: &config(offices.path()),
        policies: &[("grave.toml", GRAVE)],
        ..Options::default()
    });
    let hosts = hosts(&host.state);
    let mut agent = host.agent();
    let first = agent.propose(json!({"code": "print(6 * 7)\n", "title": "a sum"}));
    let voted = |n: usize| host.log_text().matches("\"kind\":\"voted\"").count() == n;

    let mut ben = seat(offices.path(), &hosts, one, &ben);
    ben.wait_text("a sum");
    grants(&mut ben, || voted(1));
    assert_eq!(agent.state(&first["id"]), "pending");
    let mut cyd = seat(offices.path(), &hosts, two, &cyd);
    cyd.wait_text("a sum");
    assert!(
        !cyd.text().contains("ben"),
        "Ben's vote is shown before Cyd's:\n{}",
        cyd.text()
    );
    grants(&mut cyd, || voted(2));
    let outcome = agent.outcome(&first["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    assert_eq!(outcome["run"]["stdout"], "42\n");
    let log = host.log_text();
    assert!(log.contains("\"votes\":{\"by\":[\"ben\",\"cyd\"]"), "{log}");
    // Nothing of who they are reaches the agent.
    assert!(!outcome.to_string().contains("ben"));

    let second = agent.propose(json!({"code": "print(1)\n", "title": "another"}));
    denies(&mut cyd, "another", "not today");
    let outcome = agent.outcome(&second["id"]);
    assert_eq!(outcome["state"], "denied", "{outcome}");
    assert_eq!(outcome["decision"]["reason"], "not today");

    // Somebody whom the host does not know is told so, and sees nothing.
    let stranger = key_pair("eve");
    let mut eve = seat(offices.path(), &hosts, three, &stranger);
    assert_ne!(eve.wait_exit().exit_code(), 0);
    eve.wait_text(&format!("uid {three} is nobody's"));
    let verified = host.cli(&["audit", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
}
