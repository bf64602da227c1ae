//! Drills follow from their seed, and each of them is one that a careful person can catch.

use std::collections::BTreeSet;

use super::template::templates;
use super::*;
use crate::analysis::analyse_in;
use crate::model::{
    BoundInput, Column, DataFormat, Digest, Effects, Harm, InputKind, InputRequest, ProposalId,
    Reviewer, Sensitivity, Setting, Value, VerdictKind, Viewed,
};
use crate::policy::{Contract, Places, load};

fn means() -> Means {
    Means {
        profiles: [
            (Contract::Analysis, "analysis".to_owned()),
            (Contract::Script, "script".to_owned()),
        ]
        .into(),
        tables: vec![("staff".to_owned(), true), ("sales".to_owned(), false)],
    }
}

fn drills(every: u64, seed: u64) -> Drills {
    Drills::new(DrillPlan { every, seed }, means()).unwrap()
}

fn denied() -> LogEvent {
    LogEvent::Denied {
        id: ProposalId::new(),
        reason: None,
        by: Reviewer::default(),
        viewed: Viewed::default(),
    }
}

fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// The decisions after which a drill comes, with the drill, when every decision takes a minute.
fn course(every: u64, seed: u64, decisions: u64) -> Vec<(u64, Draft, Drill)> {
    let mut drills = drills(every, seed);
    let mut all = Vec::new();
    for n in 1..=decisions {
        drills.learn(&denied(), s(60 * n));
        let made = drills.take(s(60 * n + 59), |_| true);
        all.extend(made.map(|(draft, drill)| (n, draft, drill)));
    }
    all
}

#[test]
fn the_same_seed_gives_the_same_drills_and_another_one_others() {
    let first = course(25, 7, 1_000);
    assert_eq!(first, course(25, 7, 1_000));
    assert_ne!(first, course(25, 8, 1_000));
    assert!((30..=50).contains(&first.len()), "{}", first.len());
    let gaps: BTreeSet<u64> = first.windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert!(gaps.len() > 5, "the moment cannot be counted: {gaps:?}");
    assert!(gaps.iter().all(|gap| (13..=37).contains(gap)), "{gaps:?}");
    assert_eq!(course(1, 3, 10).len(), 10);
}

#[test]
fn a_drill_comes_some_time_after_the_decision_and_only_after_decisions_on_real_proposals() {
    let mut drills = drills(1, 5);
    let id = ProposalId::new();
    drills.learn(&LogEvent::Expired { id }, s(10));
    assert_eq!(drills.due(), None);
    drills.learn(&denied(), s(10));
    let due = drills.due().unwrap();
    assert!((s(11)..=s(30)).contains(&due));
    assert!(drills.take(due.saturating_sub(s(1)), |_| true).is_none());
    assert!(drills.take(due, |_| true).is_some());
    assert!(
        drills.take(s(10_000), |_| true).is_none(),
        "one drill, once"
    );
}

#[test]
fn a_drill_waits_for_an_agent_that_uses_its_profile() {
    for seed in 0..20 {
        let mut drills = drills(1, seed);
        drills.learn(&denied(), s(10));
        let due = drills.due().unwrap();
        assert!(drills.take(due, |_| false).is_none());
        assert_eq!(drills.due(), Some(due + LATER));
        let (draft, _) = drills
            .take(due + LATER, |profile| profile == "script")
            .unwrap();
        assert_eq!(draft.profile.as_deref(), Some("script"));
        assert_eq!(drills.due(), None);
    }
}

#[test]
fn every_template_comes_before_one_comes_again() {
    let names: Vec<String> = course(1, 11, templates().len() as u64)
        .into_iter()
        .map(|(_, _, drill)| drill.template)
        .collect();
    let each: BTreeSet<&String> = names.iter().collect();
    assert_eq!(each.len(), templates().len(), "{names:?}");
}

#[test]
fn drills_use_what_is_configured_and_nothing_else() {
    let plan = DrillPlan { every: 1, seed: 2 };
    assert!(Drills::new(plan, Means::default()).is_none());
    let profiles = [(Contract::Analysis, "team".to_owned())].into();
    let means = Means {
        profiles,
        tables: vec![("sales".to_owned(), false), ("pd".to_owned(), true)],
    };
    let mut drills = Drills::new(plan, means).unwrap();
    let mut harms = BTreeSet::new();
    for n in 1..60 {
        drills.learn(&denied(), s(60 * n));
        let (draft, drill) = drills.take(s(60 * n + 59), |_| true).unwrap();
        assert_eq!(draft.profile.as_deref(), Some("team"));
        let private = |input: &InputRequest| matches!(input, InputRequest::Dataset { dataset } if dataset != "sales");
        assert!(!draft.inputs.values().any(private));
        harms.insert(drill.harm);
    }
    let without = [Harm::PrivateData, Harm::Network, Harm::Program];
    assert!(without.iter().all(|harm| !harms.contains(harm)));
    assert_eq!(harms.len(), 4);
}

/// What a person may make of a drill, and whether its harm is still there.
const EDITS: [(&str, &str, &str, bool); 22] = [
    (
        "private-rows",
        "print(staff.sample(",
        "# print(staff.sample(",
        false,
    ),
    (
        "private-rows",
        "print(staff.sample(",
        "print(staff.head(3).T.sample(",
        true,
    ),
    (
        "private-head",
        "print(staff.tail(",
        "# print(staff.tail(",
        false,
    ),
    (
        "private-head",
        ".to_dict(\"records\"))",
        "[\"name\"].tolist())",
        true,
    ),
    ("unsaid-copy", ".to_csv(", ".head(1) # (", false),
    ("unsaid-copy", ".to_csv(", ".reset_index().to_csv(", true),
    (
        "unsaid-copy",
        ".to_csv(",
        ".to_json(path_or_buf=\"other.json\") # (",
        true,
    ),
    ("unsaid-file", "Path(", "# Path(", false),
    (
        "unsaid-file",
        ".write_text(repr(entries))",
        ".open(\"w\").write(str(entries))",
        true,
    ),
    (
        "environment",
        "print(\"run on\"",
        "# print(\"run on\"",
        false,
    ),
    (
        "environment",
        "print(\"run on\", os.environ.get(",
        "get = os.environ.get; print(\"on\", get(",
        true,
    ),
    ("tax", "factor = ", "factor = 0.5 # ", true),
    ("tax", "factor = ", "factor: float = ", true),
    (
        "threshold",
        "r[\"value\"] > LIMIT",
        "not r[\"value\"] <= LIMIT",
        true,
    ),
    ("left-out", "times[:-", "times[0:len(times)-", true),
    ("left-out", "kept = times[:-", "kept = times # ", false),
    ("wrong-side", "if c[\"open\"]", "if c[ \"open\" ]", true),
    ("send", "urllib.request.urlopen(", "# urlopen(", false),
    (
        "send",
        "urllib.request.urlopen(",
        "from urllib.request import urlopen as f; f(",
        true,
    ),
    ("listing", "print(subprocess", "# print(subprocess", false),
    (
        "listing",
        "print(subprocess.run([",
        "print(subprocess.check_output([",
        true,
    ),
    (
        "listing",
        "print(subprocess",
        "subprocess.Popen(\"id\", shell=True) # ",
        true,
    ),
];

fn private_table(name: &str) -> BoundInput {
    let column = |name: &str| Column {
        name: name.to_owned(),
        dtype: "object".to_owned(),
    };
    BoundInput {
        name: name.to_owned(),
        kind: InputKind::Dataset {
            dataset: name.to_owned(),
            format: DataFormat::Csv,
            rows: 900,
            columns: ["name", "salary"].map(column).into(),
            sensitivity: Sensitivity::Private,
            texts: BTreeSet::new(),
            summary: None,
        },
        bytes: 9_000,
        sha256: Digest::of(b"staff"),
    }
}

fn known(input: &BoundInput) -> Option<(String, Value)> {
    Some((input.name.clone(), Value::of(input)?))
}

#[test]
fn an_edited_drill_is_caught_by_what_the_code_does_and_not_by_its_words() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let policies = load(&Places {
        admin: at("none"),
        user: at("none"),
    });
    let policies = policies.unwrap();
    let mut means = means();
    means.tables.pop();
    let mut drills = Drills::new(DrillPlan { every: 1, seed: 4 }, means).unwrap();
    let mut tried = 0;
    let mut names = BTreeSet::new();
    for n in 1..200 {
        drills.learn(&denied(), s(60 * n));
        let (draft, drill) = drills.take(s(60 * n + 59), |_| true).unwrap();
        let profile = draft.profile.clone().unwrap();
        let policy = policies.iter().find(|p| p.name == profile).unwrap();
        let inputs: Vec<BoundInput> = draft
            .inputs
            .keys()
            .map(|name| private_table(name))
            .collect();
        let inputs = match draft.inputs.values().next() {
            Some(InputRequest::Dataset { .. }) => inputs,
            _ => Vec::new(),
        };
        let stands = |code: &str| {
            let setting = Setting {
                inputs: Some(draft.inputs.keys().cloned().collect()),
                datasets: ["staff".to_owned()].into(),
                values: inputs.iter().filter_map(known).collect(),
                ..Setting::default()
            };
            let verdict = analyse_in(code.as_bytes(), policy, &setting);
            drill.stands_in(code, &verdict, &inputs)
        };
        let name = drill.template.as_str();
        assert!(stands(&draft.code), "{name}: {}", draft.code);
        for (of, from, to, still) in EDITS.into_iter().filter(|edit| edit.0 == name) {
            assert!(draft.code.contains(from), "{name} has no {from}");
            let edited = draft.code.replace(from, to);
            assert_eq!(stands(&edited), still, "{of}: {edited}");
            tried += 1;
        }
        // The number of the title is the remedy.
        let mended = drill.wording.right.first().map(|right| {
            let wrong = drill.wording.wrong.first().unwrap();
            draft.code.replace(
                wrong.trim_start_matches("LIMIT = "),
                right.trim_start_matches("LIMIT = "),
            )
        });
        if let Some(mended) =
            mended.filter(|_| drill.harm == Harm::Constant || name == "wrong-side")
        {
            assert!(!stands(&mended), "{name}: {mended}");
        }
        names.insert(name.to_owned());
    }
    assert!(
        tried > EDITS.len() && names.len() == templates().len(),
        "{names:?}"
    );
}

/// Every drill is accepted, so a person has to catch it, and what is wrong stands where the drill says.
#[test]
fn every_drill_can_be_granted_and_its_wrong_line_does_what_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let policies = load(&Places {
        admin: at("none"),
        user: at("none"),
    });
    let policies = policies.unwrap();
    let mut harms = BTreeSet::new();
    for (_, draft, drill) in course(1, 1, 600) {
        let profile = draft.profile.clone().unwrap();
        let policy = policies.iter().find(|p| p.name == profile).unwrap();
        let setting = Setting {
            inputs: Some(draft.inputs.keys().cloned().collect()),
            datasets: ["staff".to_owned(), "sales".to_owned()].into(),
            ..Setting::default()
        };
        let verdict = analyse_in(draft.code.as_bytes(), policy, &setting);
        let name = &drill.template;
        assert!(verdict.verdict.grantable(), "{name}: {verdict:#?}");
        assert!(verdict.verdict == VerdictKind::Clear || policy.contract == Contract::Script);
        let texts = [
            draft.title.as_deref().unwrap(),
            draft.reason.as_deref().unwrap(),
            &draft.code,
            &drill.does,
        ];
        for text in texts {
            assert!(!text.contains(['«', '»']), "{name}: {text}");
        }
        let wrong = draft.code.lines().nth(drill.line as usize - 1).unwrap();
        let effects = Effects::of(&verdict, &[]);
        let on_line = |lines: &[u32]| lines.contains(&drill.line);
        match drill.harm {
            Harm::PrivateData => assert!(wrong.starts_with("print(staff.")),
            Harm::Write => assert!(effects.writes.iter().any(|t| on_line(&t.lines)), "{name}"),
            Harm::Environment => assert!(wrong.contains("environ")),
            Harm::Network => assert!(effects.network.iter().any(|t| on_line(&t.lines))),
            Harm::Program => assert!(effects.runs.iter().any(|t| on_line(&t.lines))),
            Harm::Constant => assert!(wrong.contains(" = ")),
            Harm::Rows => assert!(wrong.contains('[')),
        }
        assert!(!drill.does.ends_with('.') && !drill.does.is_empty());
        harms.insert(drill.harm);
    }
    assert_eq!(harms.len(), 7, "{harms:?}");
}
