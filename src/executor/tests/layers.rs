//! Proves the effect of each layer: with the layer off, the examination from outside refuses the
//! run by the layer's name, and an attack that the layer is said to stop is not stopped.
//!
//! Several layers stop most attacks. So each proof in the table names the layers behind: without
//! those, the one layer still stops the attack, and without it too nothing does.

use std::collections::{BTreeMap, BTreeSet};

use super::TIER;
use crate::executor::control::Switch;
use crate::executor::data::convert::Converter;
use crate::executor::spec::RunSpec;
use crate::executor::tests::attack_table::{Attack, Meets, Proof, compare, met, table};
use crate::executor::tests::bench::*;
use crate::executor::tests::entry::exe_without;
use crate::executor::tests::look::{Looked, look};
use crate::executor::{DatasetSource, bind_with};
use crate::model::{BoundInput, DataFormat, Digest, InputKind, Sensitivity, Tier};

fn root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

fn run_without(off: &[&str], spec: &RunSpec) -> Looked {
    look(spec, &exe_without(off), None).unwrap_or_else(|e| panic!("{off:?}: {e} ({})", e.detail))
}

#[test]
fn the_test_build_confines_like_the_product_when_nothing_is_left_off() {
    if !available(TIER) {
        return;
    }
    let spec = spec("print(1)", raw_policy(TIER));
    let looked = run_without(&[], &spec);
    let isolation = looked.outside.unwrap();
    assert_eq!(looked.stdout, "1\n", "{}", looked.stderr);
    assert!(looked.ending.clean);
    assert_eq!(&isolation, run_spec(spec).isolation());
}

/// One run of the same attacks: which layers are off, and the expected result of each attack.
#[derive(Default)]
struct Batch<'a> {
    attacks: Vec<&'a Attack>,
    wanted: Vec<Vec<String>>,
}

#[test]
fn every_proof_of_the_table_holds() {
    if !available(TIER) || TIER != Tier::Kernel {
        return;
    }
    let table = table();
    let mut batches: BTreeMap<Vec<&str>, Batch<'_>> = BTreeMap::new();
    for attack in table.attack.iter().filter(|a| a.applies()) {
        for proof in &attack.proof {
            if proof.as_user.is_some() && !root() {
                continue;
            }
            let landlock = crate::sandbox::raw::landlock_version().unwrap();
            if let Some(abi) = proof.abi.filter(|abi| *abi > landlock) {
                let what = format!("landlock of version {abi}: {} by it alone", attack.name);
                is_given(false, &what);
                continue;
            }
            for (off, expected) in runs(attack, proof) {
                let batch = batches.entry(off).or_default();
                batch.attacks.push(attack);
                batch.wanted.push(expected);
            }
        }
    }
    let targets = targets();
    let mut failures = Vec::new();
    for (off, batch) in batches {
        let spec = spec(&targets.snippet(&batch.attacks), raw_policy(TIER));
        let looked = run_without(&off, &spec);
        let mut expected = batch.wanted.into_iter();
        let met = met(&looked.stdout);
        let differences = compare(&batch.attacks, &met, |_| expected.next().unwrap());
        failures.extend(
            differences
                .into_iter()
                .map(|w| format!("without {off:?}: {w}")),
        );
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The runs with only this layer, and without any of them.
fn runs<'a>(attack: &Attack, proof: &'a Proof) -> [(Vec<&'a str>, Vec<String>); 2] {
    let Meets::Stopped { meets, .. } = &attack.kernel else {
        panic!("{}: a proof for an attack that is not stopped", attack.name);
    };
    let sorted = |list: Vec<&'a str>| {
        let set: BTreeSet<&str> = list.into_iter().collect();
        set.into_iter().collect::<Vec<_>>()
    };
    let behind: Vec<&str> = proof.without.iter().map(String::as_str).collect();
    let all = [behind.clone(), vec![proof.by.as_str()]].concat();
    let open = proof
        .open
        .clone()
        .unwrap_or_else(|| vec!["DONE".to_owned()]);
    [
        (sorted(behind), proof.meets.clone().unwrap_or(meets.clone())),
        (sorted(all), open),
    ]
}

/// The layers to leave off, namely the tested one and those that depend on it, and the name by
/// which the run is refused.
const KERNEL: &[(&[&str], &str)] = &[
    (&["pidns", "proc"], "pidns"),
    (&["netns"], "netns"),
    (&["ipcns"], "ipcns"),
    (&["utsns"], "utsns"),
    (&["cgroupns"], "cgroupns"),
    (&["root"], "root"),
    (&["proc"], "proc"),
    (&["nocaps"], "nocaps"),
    (&["bounding"], "bounding"),
    (&["landlock"], "landlock"),
    (&["seccomp"], "seccomp"),
    (&["rlimits:cpu"], "rlimits"),
    (&["rlimits:files"], "rlimits"),
    (&["rlimits:size"], "rlimits"),
    (&["rlimits:processes"], "rlimits"),
    (&["rlimits:core"], "rlimits"),
    (&["rlimits:memlock"], "rlimits"),
    (&["rlimits:msgqueue"], "rlimits"),
    (&["rlimits:signals"], "rlimits"),
];

/// The layers that only root has.
const KERNEL_AS_ROOT: &[(&[&str], &str)] = &[
    (&["userns"], "userns"),
    (&["uid"], "a user that is not root"),
    (&["environment"], "environment"),
];

const PROCESS: &[(&[&str], &str)] = &[
    (&["no_new_privs"], "no_new_privs"),
    (&["rlimits:cpu"], "rlimits"),
    (&["rlimits:files"], "rlimits"),
    (&["rlimits:size"], "rlimits"),
    (&["rlimits:processes"], "rlimits"),
    (&["rlimits:core"], "rlimits"),
    (&["rlimits:memlock"], "rlimits"),
    (&["rlimits:msgqueue"], "rlimits"),
    (&["rlimits:signals"], "rlimits"),
];

const PROCESS_AS_ROOT: &[(&[&str], &str)] = &[
    (&["uid"], "a user that is not root"),
    (&["nocaps"], "nocaps"),
    (&["bounding"], "bounding"),
    (&["environment"], "environment"),
];

const ONLY_ROOTS: &str = "root, so none of the layers that only root has";

fn each_is_refused_by_name(cases: &[(&[&str], &str)]) {
    for (off, name) in cases {
        let looked = run_without(off, &spec("print(1)", raw_policy(TIER)));
        assert_eq!(looked.refused(), *name, "without {off:?}");
    }
}

#[test]
fn a_run_that_lacks_a_layer_is_refused_by_its_name() {
    if !available(TIER) {
        return;
    }
    each_is_refused_by_name(match TIER {
        Tier::Process => PROCESS,
        _ => KERNEL,
    });
    if !is_given_to_root(root(), ONLY_ROOTS) {
        return;
    }
    each_is_refused_by_name(match TIER {
        Tier::Process => PROCESS_AS_ROOT,
        _ => KERNEL_AS_ROOT,
    });
}

/// Runs as the product does, from the grant to the last note: the release is requested before the
/// examination.
fn each_run_is_refused(cases: &[(&[&str], &str)]) {
    for (off, name) in cases {
        let spec = spec("print('it ran', flush=True)", raw_policy(TIER));
        let outcome = begin_through(exe_without(off), spec, BTreeMap::new()).finish();
        let expected = format!("the child is not confined as its tier asks: {name} is missing");
        assert_eq!(outcome.failure(), expected, "without {off:?}");
        assert_eq!(outcome.notes.len(), 1, "without {off:?}: {outcome:?}");
    }
}

#[test]
fn no_run_that_lacks_a_layer_continues() {
    if !available(TIER) {
        return;
    }
    each_run_is_refused(match TIER {
        Tier::Process => PROCESS,
        _ => KERNEL,
    });
    if is_given_to_root(root(), ONLY_ROOTS) {
        each_run_is_refused(match TIER {
            Tier::Process => PROCESS_AS_ROOT,
            _ => KERNEL_AS_ROOT,
        });
    }
}

/// One layer of each kind, because each conversion loads pandas.
const OF_A_CONVERTER: &[(&[&str], &str)] = match TIER {
    Tier::Process => &[
        (&["no_new_privs"], "no_new_privs"),
        (&["rlimits:files"], "rlimits"),
    ],
    _ => &[
        (&["netns"], "netns"),
        (&["root"], "root"),
        (&["landlock"], "landlock"),
        (&["seccomp"], "seccomp"),
        (&["rlimits:files"], "rlimits"),
    ],
};

#[test]
fn no_converter_that_lacks_a_layer_continues() {
    if !available(TIER) {
        return;
    }
    for (off, name) in OF_A_CONVERTER {
        let expected = format!("the child is not confined as its tier asks: {name} is missing");
        let folder = tempfile::tempdir().unwrap();
        // Each content is new, because a known content is not converted again.
        let text = format!("a\n{TIER} without {off:?}\n");
        let source = DatasetSource {
            path: folder.path().join("sales.csv"),
            format: DataFormat::Csv,
            sensitivity: Default::default(),
        };
        std::fs::write(&source.path, &text).unwrap();
        let sources = sources([("sales".to_owned(), source)].into());
        let converter = Converter::new(exe_without(off), pandas(), TIER);
        sources.converters.set(converter);
        let requests = serde_json::json!({"df": {"dataset": "sales"}});
        let error = bind_with(&serde_json::from_value(requests).unwrap(), &sources).unwrap_err();
        let said = format!("data set `sales` cannot be read: {expected}");
        assert_eq!(error, said, "without {off:?}");

        // Counting private values is another task of the same converter.
        let input = BoundInput {
            name: "df".to_owned(),
            kind: InputKind::Dataset {
                dataset: "sales".to_owned(),
                format: DataFormat::Csv,
                rows: 1,
                columns: Vec::new(),
                sensitivity: Sensitivity::Private,
                texts: BTreeSet::new(),
                summary: None,
            },
            bytes: text.len() as u64,
            sha256: Digest::of(text.as_bytes()),
        };
        let file = crate::sandbox::memfd::of_bytes("dataset", text.as_bytes()).unwrap();
        let values = sources.converters.values(&input, file, &Switch::new());
        assert_eq!(values.unwrap_err().to_string(), expected, "without {off:?}");
    }
}

#[test]
fn an_extra_descriptor_is_noticed() {
    if !available(TIER) {
        return;
    }
    let targets = targets();
    let code = format!("import os\nos.fstat({})\nprint('open')", targets.leaked);
    let looked = run_without(&["descriptors"], &spec(&code, raw_policy(TIER)));
    if root() {
        assert_eq!(looked.refused(), "descriptors");
    }
    assert_eq!(looked.stdout, "open\n", "{}", looked.stderr);
}

#[test]
fn an_address_space_that_was_not_lowered_is_noticed() {
    if !available(TIER) {
        return;
    }
    // The runner lowers the limit. A runner that was given a larger allowance lowers it less.
    let mut larger = raw_policy(TIER);
    larger.limits.memory_mb = 2048;
    let mut granted = raw_policy(TIER);
    granted.limits.memory_mb = 64;
    let code = "x = bytearray(600 << 20)\nprint('taken')";
    let looked = look(
        &spec(code, larger),
        &exe_without(&["cgroup"]),
        Some(&spec(code, granted)),
    )
    .unwrap();
    assert_eq!(looked.refused(), "rlimits");
    assert_eq!(looked.stdout, "taken\n", "{}", looked.stderr);
}

/// Attacks that the table's limits stop: with the limit off, each ends in another way.
#[test]
fn a_limit_that_is_left_off_no_longer_ends_the_run() {
    if !available(TIER) {
        return;
    }
    let limited = |change: fn(&mut crate::model::Limits)| {
        let mut policy = raw_policy(TIER);
        policy.limits.wall_s = 60;
        change(&mut policy.limits);
        policy
    };
    let looked = run_without(
        &["rlimits:cpu"],
        &spec(
            "while True: pass",
            limited(|l| (l.wall_s, l.cpu_s) = (3, 1)),
        ),
    );
    assert_eq!(looked.ending.by, crate::sandbox::protocol::EndedBy::Wall);
    let looked = run_without(
        &["rlimits:processes"],
        &spec(
            "import os, time\nchildren = 0\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(60)\n    \
             children += 1\nprint(children, flush=True)\nos._exit(0)",
            limited(|l| l.processes = 5),
        ),
    );
    // If there is a control group, it limits too.
    if looked.stdout.is_empty() {
        assert!(
            looked.stderr.contains("BlockingIOError"),
            "{}",
            looked.stderr
        );
        let spec = spec(
            "import os, time\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(60)\nprint('all')",
            limited(|l| l.processes = 5),
        );
        let looked = run_without(&["cgroup", "rlimits:processes"], &spec);
        assert_eq!(looked.stdout, "all\n", "{}", looked.stderr);
    } else {
        assert_eq!(looked.stdout, "40\n");
    }
    let looked = run_without(
        &["rlimits:size"],
        &spec(
            "open('x', 'wb').write(bytes(3 << 20))\nprint('written')",
            limited(|l| l.file_size_mb = 1),
        ),
    );
    assert_eq!(looked.stdout, "written\n", "{}", looked.stderr);
}

#[test]
fn many_processes_exceed_the_limit_without_their_control_group() {
    if !available(TIER) {
        return;
    }
    let mut policy = raw_policy(TIER);
    policy.limits.memory_mb = 64;
    policy.limits.file_size_mb = 4;
    let code = "import os, time\nready, done = os.pipe()\n\
        for i in range(20):\n\
        \x20   if os.fork() == 0:\n\
        \x20       x = bytearray(b'x') * (50 << 20)\n\
        \x20       os.write(done, b'.')\n\
        \x20       time.sleep(60)\n\
        os.close(done)\n\
        print(sum(len(os.read(ready, 1)) for _ in range(20)), flush=True)\nos._exit(0)";
    let looked = run_without(&["cgroup"], &spec(code, policy));
    let isolation = looked.outside.unwrap();
    assert!(!isolation.layers.iter().any(|layer| layer == "cgroup"));
    assert_eq!(looked.stdout, "20\n", "{}", looked.stderr);
    assert_eq!(looked.ending.out_of_memory, None);
}

#[test]
fn a_set_id_program_gains_rights_only_without_no_new_privs_and_the_view() {
    if !available(TIER) || TIER != Tier::Process {
        return;
    }
    if !is_given_to_root(root(), "root, so no other user to become") {
        return;
    }
    let table = table();
    let name = "a program that is another user's";
    let row: Vec<&Attack> = table.attack.iter().filter(|a| a.name == name).collect();
    let targets = targets();
    let snippet = targets.snippet(&row);
    for (off, expected) in [
        (&["view"][..], "EPERM"),
        (&["no_new_privs"], "EPERM"),
        (&["no_new_privs", "view"], "DONE"),
    ] {
        let looked = run_without(off, &spec(&snippet, raw_policy(TIER)));
        assert_eq!(met(&looked.stdout), [expected], "without {off:?}");
    }
}
