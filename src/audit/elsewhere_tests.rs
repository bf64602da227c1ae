//! A reviewer's log has votes on what other hosts asked: they are listed, shown, exported and verified like what happened here.

use jiff::Timestamp;

use super::query::Query;
use super::samples::{settled_elsewhere, voted_elsewhere};
use super::written::write;
use super::{Log, Teller, open, story};
use crate::model::{LogEvent, ProposalId, State, VoteKind};

fn query(text: &str) -> Query {
    Query::parse(text, Timestamp::now()).unwrap()
}

#[test]
fn votes_on_what_other_hosts_ask_are_a_history_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let [ended, open_one, vetoed] = [(); 3].map(|()| ProposalId::new());
    let plain = |event| (event, Vec::new());
    let vote = |id, kind| plain(LogEvent::Voted(Box::new(voted_elsewhere(id, kind))));
    write(
        open(dir.path()).unwrap(),
        vec![
            vote(ended, VoteKind::Grant),
            vote(open_one, VoteKind::Deny),
            plain(settled_elsewhere(ended, State::Succeeded)),
            vote(vetoed, VoteKind::Grant),
            vote(vetoed, VoteKind::Veto),
            plain(settled_elsewhere(vetoed, State::Denied)),
        ],
    );
    let log = Log::open(dir.path()).unwrap();
    assert!(log.verify().unwrap().first().is_none());
    let both = [
        log.answers_compared("a test", &|_, _| {}).unwrap(),
        log.answers_without_index().unwrap(),
    ];
    for mut answers in both {
        for (question, found) in [
            ("", vec![vetoed, open_one, ended]),
            ("state:succeeded", vec![ended]),
            ("state:granted", vec![ended]),
            ("state:denied", vec![vetoed]),
            ("state:pending", vec![open_one]),
            ("host:lab-1 title:revenue", vec![vetoed, open_one, ended]),
            ("host:lab-2", vec![]),
        ] {
            let mut ids = Vec::new();
            let each = answers.each(&query(question), 9, |row| {
                ids.push(row.id);
                Ok::<(), ()>(())
            });
            each.unwrap().unwrap();
            assert_eq!(ids, found, "{question}");
        }
        let history = answers.records(ended).unwrap();
        assert_eq!(history.records.len(), 2);
        let teller = Teller {
            at: &|ts| format!("T{}", ts.as_second()),
            given: &|text| format!("<{text}>"),
        };
        let text = story(&history.records, teller).join("\n");
        for part in [
            "The host lab-1 asked about <revenue>, of an agent named <etl-bot> (uid 1000) there, proposed at T5.\nJudged \
             flagged under the profile grave, 2 findings; its code has sha256:",
            "\nIt uses sales.\nana granted version 1 at ",
            "\nThe host lab-1 says that it ended: succeeded, <it ran>.\nWho voted, as lab-1 told: ben granted at T7.",
        ] {
            assert!(text.contains(part), "{part:?}: {text}");
        }
        let text = story(&answers.records(open_one).unwrap().records, teller).join("\n");
        assert!(
            text.ends_with("The log does not say how it ended at lab-1."),
            "{text}"
        );
        assert!(answers.faults().first().is_none());
    }
}
