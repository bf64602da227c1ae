//! `[desk.routes]`, from a host's file to what each login of the engine can read.

use std::time::{Duration, Instant};

use countersign::desk::engine::{Duty, Member};
use countersign::model::ProposalId;
use serde_json::json;

use super::cluster::{self, Database};
use crate::common::dash::{Options, PATIENCE, folder};
use crate::host::Host;
use crate::seats::{GRAVE, config, key_pair, offices, users};

/// The offers that this login can read.
async fn sees(db: &Database, login: &str) -> Vec<ProposalId> {
    let page = db.engine(login).offers(None).await.unwrap();
    page.rows.iter().map(|row| row.proposal).collect()
}

async fn member(db: &Database, login: &str, person: &str, roles: &[&str]) {
    let roles = roles.iter().map(|role| role.parse().unwrap()).collect();
    let member = Member {
        login: login.parse().unwrap(),
        duty: Duty::Reviewer(person.parse().unwrap(), roles),
    };
    db.engine("postgres").add_member(&member).await.unwrap();
}

#[test]
fn what_uses_a_data_set_is_for_the_roles_of_its_route_alone() {
    let Some([one, two]) = users(["daemon", "bin"]) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    let (dan, eve) = (key_pair("dan"), key_pair("eve"));
    let offices = offices(&[("dan", one, &dan.1), ("eve", two, &eve.1)]);
    let people = "[agents]\nuids = [0]\n[people.dan]\nroles = [\"data\", \"clinical\"]\n[people.eve]\nroles = [\"data\", \"clinical\"]\n";
    std::fs::write(offices.path().join("people.toml"), people).unwrap();
    runtime.block_on(async {
        member(&db, "rev_data", "dee", &["data"]).await;
        member(&db, "rev_clinical", "dan", &["data", "clinical"]).await;
    });
    let text = format!(
        "{}url = {:?}\n[desk.routes]\npatients = [\"clinical\"]\nledger = [\"finance\"]\n[datasets.patients]\n\
         path = \"t.csv\"\n[datasets.ledger]\npath = \"t.csv\"\n[datasets.open]\npath = \"t.csv\"\n",
        config(offices.path()).replace("\"lab-1\"", "\"a\""),
        db.url("host_a")
    );
    let mut host = Host::start(folder(&Options {
        config: &text,
        files: &[("t.csv", "n\n1\n")],
        policies: &[("grave.toml", GRAVE)],
        ..Options::default()
    }));
    let mut agent = host.agent();
    let mut propose = |datasets: &[&str]| {
        let inputs: serde_json::Map<String, serde_json::Value> = datasets
            .iter()
            .map(|name| ((*name).to_owned(), json!({"dataset": name})))
            .collect();
        let proposed = agent.propose(json!({"code": "print(1)\n", "inputs": inputs}));
        proposed["id"]
            .as_str()
            .unwrap()
            .parse::<ProposalId>()
            .unwrap()
    };
    let (open, patients) = (propose(&["open"]), propose(&["open", "patients"]));
    let until = Instant::now() + PATIENCE;
    let clinical = || runtime.block_on(sees(&db, "rev_clinical"));
    while clinical().len() < 2 {
        assert!(Instant::now() < until, "{:?}\n{}", clinical(), host.said());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(clinical().contains(&patients));
    assert_eq!(runtime.block_on(sees(&db, "rev_data")), [open]);
    let said = host.said();
    assert!(
        said.contains(&format!("{patients} offered to clinical, ")),
        "{said}"
    );
    assert!(
        said.contains(&format!("{open} offered to data, ")),
        "{said}"
    );

    // No role sees both, and nobody of data has the other one.
    let both = propose(&["patients", "ledger"]);
    host.wait_said(&format!("{both} error: no role may see all the data sets"));
    let ledger = propose(&["ledger"]);
    host.wait_said(&format!(
        "{ledger} error: no votes can grant it: 2 people of data have to grant, and there are 0 who may see it"
    ));
    let found = host.runs(&["doctor", "--json"]);
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(
        found.contains("for the data set ledger: 2 people of data have to grant")
            && found.contains("what uses ledger and patients at once no role may see"),
        "{found}"
    );
    assert_eq!(clinical().len(), 2);
}
