//! Effects from places and flows.

use std::collections::BTreeSet;

use super::super::{
    CapabilityUse, Column, DataFormat, Digest, PolicyRef, Sensitivity, SourceStats, VerdictKind,
};
use super::*;

fn input(name: &str, columns: &[&str], sensitivity: Sensitivity) -> BoundInput {
    let column = |name: &&str| Column {
        name: (*name).to_owned(),
        dtype: "object".to_owned(),
    };
    BoundInput {
        name: name.to_owned(),
        kind: InputKind::Dataset {
            dataset: name.to_owned(),
            format: DataFormat::Csv,
            rows: 10,
            columns: columns.iter().map(column).collect(),
            sensitivity,
            texts: BTreeSet::new(),
            summary: None,
        },
        bytes: 1,
        sha256: Digest::of(name.as_bytes()),
    }
}

fn verdict(places: &[(Capability, &str, &[u32])]) -> Verdict {
    let place = |(capability, detail, lines): &(Capability, &str, &[u32])| Place {
        capability: *capability,
        detail: (*detail).to_owned(),
        lines: lines.to_vec(),
        files: Vec::new(),
    };
    Verdict {
        verdict: VerdictKind::Clear,
        policy: PolicyRef {
            profile: "analysis".to_owned(),
            sha256: String::new(),
        },
        findings: Vec::new(),
        capabilities: Vec::new(),
        source: SourceStats::of(b""),
        elapsed_us: 0,
        facts: None,
        places: places.iter().map(place).collect(),
        flows: Default::default(),
    }
}

use Capability as C;

#[test]
fn columns_belong_to_the_inputs_that_have_them() {
    let inputs = [
        input("staff", &["email", "dept"], Sensitivity::Private),
        input("sales", &["dept", "amount"], Sensitivity::Public),
        input("spare", &["other"], Sensitivity::Public),
    ];
    let verdict = verdict(&[
        (C::DataRead, "staff", &[1]),
        (C::DataRead, "dept", &[2]),
        (C::DataRead, "amount", &[3]),
        (C::DataRead, "unknown", &[4]),
    ]);
    let effects = Effects::of(&verdict, &inputs);
    let [staff, sales, spare] = &effects.inputs[..] else {
        panic!("{effects:?}")
    };
    assert!(staff.named && staff.private && effects.private());
    assert_eq!(
        (&staff.columns[..], &staff.lines[..]),
        (&["dept".to_owned()][..], &[1, 2][..])
    );
    assert_eq!(sales.columns, ["dept", "amount"]);
    assert!(!sales.named && spare.lines.is_empty());
}

#[test]
fn the_strongest_effect_of_a_line_marks_it() {
    let inputs = [input("staff", &["email"], Sensitivity::Private)];
    let verdict = verdict(&[
        (C::DataRead, "email", &[1, 2, 3, 4]),
        (C::FsWrite, "to_csv, literal argument", &[2, 3, 4]),
        (C::Exec, "os.system", &[3, 4]),
        (C::NetworkOut, "requests.get", &[4]),
        (C::DataWrite, "h", &[5]),
    ]);
    let effects = Effects::of(&verdict, &inputs);
    let marks: Vec<_> = (1..=5).map(|line| effects.mark(line)).collect();
    let private: Vec<_> = (1..=5).map(|line| effects.is_private(line)).collect();
    assert_eq!(private, [true, true, true, true, false]);
    use EffectMark as M;
    assert_eq!(
        marks,
        [None, Some(M::Writes), Some(M::Runs), Some(M::Network), None]
    );
}

#[test]
fn every_capability_is_an_effect_but_a_column_in_memory() {
    for capability in Capability::ALL {
        let effects = Effects::of(&verdict(&[(capability, "x", &[1])]), &[]);
        let lists = [
            &effects.reads,
            &effects.writes,
            &effects.deletes,
            &effects.network,
            &effects.runs,
            &effects.system,
            &effects.unread,
        ];
        let listed = lists.iter().map(|list| list.len()).sum::<usize>();
        let in_memory = matches!(capability, C::DataRead | C::DataWrite);
        assert_eq!(listed, usize::from(!in_memory), "{capability}");
    }
}

#[test]
fn one_effect_in_two_words_is_one_and_a_verdict_of_the_log_says_the_same_coarsely() {
    let two = verdict(&[
        (C::FsWrite, "to_csv", &[4]),
        (C::FsWrite, "to_csv, literal argument", &[2]),
    ]);
    let effects = Effects::of(&two, &[]);
    assert_eq!(effects.writes.len(), 1);
    assert_eq!(effects.writes[0].lines, [2, 4]);
    let mut logged = verdict(&[]);
    logged.capabilities = vec![CapabilityUse {
        capability: C::FsWrite,
        lines: vec![2, 4],
        detail: "to_csv, literal argument; savefig; …".to_owned(),
    }];
    let effects = Effects::of(&logged, &[]);
    let names: Vec<&str> = effects.writes.iter().map(|t| t.what.as_str()).collect();
    assert_eq!(names, ["to_csv", "savefig"]);
}

#[test]
fn what_is_altered_is_told_by_the_data_sets_name_and_marked() {
    use super::super::{Alteration, Altered, Flows};
    let mut other = input("table", &["pay"], Sensitivity::Public);
    if let InputKind::Dataset { dataset, .. } = &mut other.kind {
        *dataset = "staff".to_owned();
    }
    let column = |of: &str| Altered::Column {
        name: "pay".to_owned(),
        of: of.to_owned(),
        own: false,
    };
    let mut verdict = verdict(&[]);
    verdict.flows.alters = vec![
        Alteration {
            what: column("table"),
            how: Vec::new(),
            lines: vec![2, 5],
        },
        Alteration {
            what: Altered::Printing,
            how: Vec::new(),
            lines: vec![3],
        },
    ];
    let effects = Effects::of(&verdict, &[other]);
    assert_eq!(effects.alters[0].what, column("staff"));
    let marks: Vec<_> = (1..=5).map(|line| effects.mark(line).is_some()).collect();
    assert_eq!(marks, [false, true, true, false, true]);
    // What was said before there was such a thing reads as nothing altered, and is said the same way.
    let none = serde_json::to_string(&Flows::default()).unwrap();
    assert!(!none.contains("alters"));
    assert_eq!(
        serde_json::from_str::<Flows>(&none).unwrap(),
        Flows::default()
    );
}

#[test]
fn a_file_is_paired_with_its_line_its_data_and_a_name_that_looks_like_its_own() {
    let inputs = [input("staff", &["email", "dept"], Sensitivity::Private)];
    let mut verdict = verdict(&[]);
    let write = |line: u32, file: &str| Place {
        capability: C::FsWrite,
        detail: "to_csv, literal argument".to_owned(),
        lines: vec![line],
        files: vec![file.to_owned()],
    };
    verdict.places = vec![write(2, "clean.csv"), write(5, "cIean.csv")];
    verdict.flows.exits = vec![Flow {
        to: Way::File,
        line: 5,
        what: "to_csv".to_owned(),
        shares: vec![super::super::Share {
            input: "staff".to_owned(),
            as_is: vec!["email".to_owned(), "dept".to_owned()],
            rows: Vec::new(),
            summed: Vec::new(),
            of: 2,
        }],
    }];
    let effects = Effects::of(&verdict, &inputs);
    let [first, second] = &effects.writes[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (&first.files[0][..], &first.lines[..]),
        ("clean.csv", &[2][..])
    );
    assert_eq!(second.lines, [5]);
    assert_eq!(first.like.as_deref(), Some("cIean.csv"));
    assert_eq!(second.like.as_deref(), Some("clean.csv"));
    assert!(first.parts.is_empty());
    assert_eq!(second.parts[0].as_is, ["email", "dept"]);
    assert!(effects.inputs[0].whole);
    // A line that gives private data away is marked.
    assert!(effects.is_private(5) && !effects.is_private(2));
}

#[test]
fn what_is_computed_from_a_column_of_few_values_counts_as_the_column() {
    let mut given = input("staff", &["born", "sex", "note"], Sensitivity::Private);
    let InputKind::Dataset { summary, .. } = &mut given.kind else {
        panic!("a data set")
    };
    let column = |distinct| super::super::ColumnSummary {
        distinct,
        ..Default::default()
    };
    let columns = vec![column(Some(900)), column(Some(31)), column(None)];
    let about = super::super::Summary {
        columns,
        head: Vec::new(),
    };
    *summary = Some(about.into());
    let mut verdict = verdict(&[]);
    verdict.flows.exits = vec![Flow {
        to: Way::Output,
        line: 3,
        what: "print".to_owned(),
        shares: vec![super::super::Share {
            input: "staff".to_owned(),
            as_is: Vec::new(),
            rows: ["born", "sex", "note"].map(str::to_owned).into(),
            summed: Vec::new(),
            of: 3,
        }],
    }];
    let effects = Effects::of(&verdict, &[given]);
    let part = &effects.leaves[0].parts[0];
    assert_eq!(part.rows, ["born"]);
    assert_eq!(part.as_is, ["sex", "note"]);
    // What is computed from each row is private data all the same.
    assert!(effects.is_private(3) && effects.inputs[0].whole);
}
