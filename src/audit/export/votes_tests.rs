//! Exports and lists name those who voted, and those whose votes decided.

use serde_json::Value;

use super::super::Log;
use super::super::samples::{denied, granted_by, proposed, voted};
use super::tests::{exported, write};
use super::*;
use crate::model::{LogEvent, ProposalId, VoteKind};

#[test]
fn who_voted_and_whose_votes_decided_is_in_the_list_and_in_each_export() {
    let dir = tempfile::tempdir().unwrap();
    let [ran, ended, alone] = [(); 3].map(|()| ProposalId::new());
    let plain = |event| (event, Vec::new());
    let vote = |id, name: &str, kind, touched| {
        let mut v = voted(id, name);
        (v.vote.kind, v.touched) = (kind, touched);
        plain(LogEvent::Voted(Box::new(v)))
    };
    write(
        dir.path(),
        vec![
            proposed(ran, "ran"),
            vote(ran, "ana", VoteKind::Grant, Some(true)),
            vote(ran, "cyd", VoteKind::Grant, None),
            vote(ran, "ben", VoteKind::Grant, None),
            plain(granted_by(ran, &["ana", "ben"])),
            proposed(ended, "ended"),
            vote(ended, "ana", VoteKind::Grant, None),
            vote(ended, "dee", VoteKind::Veto, Some(false)),
            plain(denied(ended)),
            proposed(alone, "alone"),
            plain(denied(alone)),
        ],
    );
    let log = Log::open(dir.path()).unwrap();
    for mut answers in [log.answers().unwrap(), log.answers_without_index().unwrap()] {
        let (text, _) = exported(&mut answers, "", Format::Csv);
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[0].ends_with(",decided_by_votes,votes"), "{text}");
        assert!(rows[1].contains(",\"ana ben\",\"ana grant 2"), "{text}");
        assert!(
            rows[1].contains(" SHA256:ana, touched; cyd grant 2"),
            "{text}"
        );
        assert!(rows[2].contains(",dee,\"ana grant 2"), "{text}");
        assert!(rows[2].ends_with(" SHA256:dee, not touched\""), "{text}");
        assert!(rows[3].ends_with(",,"), "{text}");

        let (text, _) = exported(&mut answers, "title:ran", Format::Ocsf);
        let event: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let votes = event["unmapped"]["votes"].as_array().unwrap();
        let said: Vec<_> = votes
            .iter()
            .map(|v| {
                (
                    v["person"].as_str().unwrap(),
                    v["decided"].as_bool().unwrap(),
                )
            })
            .collect();
        assert_eq!(said, [("ana", true), ("cyd", false), ("ben", true)]);
        assert_eq!(votes[0]["vote"], "grant");
        assert_eq!(votes[0]["key"], "SHA256:ana");
        assert_eq!(
            (&votes[0]["touched"], &votes[1]["touched"]),
            (&Value::Bool(true), &Value::Null)
        );

        let mut listed = Vec::new();
        let query = super::tests::query("");
        let found: Result<(), ()> = answers
            .each(&query, 9, |row| {
                listed.push(serde_json::to_value(&row).unwrap());
                Ok(())
            })
            .unwrap();
        assert_eq!(found, Ok(()));
        // The newest first.
        assert!(listed[0].get("votes").is_none(), "{listed:?}");
        assert_eq!(listed[1]["votes"][1]["vote"], "veto");
        assert_eq!(listed[2]["votes"][0]["version"], 1);
    }
}
