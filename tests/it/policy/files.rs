//! A user's policy files: what they may tighten and widen, and the errors of invalid ones.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use countersign::model::{Action, Capability, Limits, Tier};
use countersign::policy::{Contract, PrivateValues};

use super::command::command;
use super::given::is_given_to_root;
use super::{TELL, load, load_error, write};

#[test]
fn a_missing_folder_has_no_files() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(load(&dir.path().join("absent")).unwrap().len(), 6);
}

#[test]
fn a_file_that_extends_tightens_and_widens() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "team",
        "name = \"team\"\nextends = \"analysis\"\n[widen.imports]\nlifelines = [\"KaplanMeierFitter\"]\n\
         [limits]\nwall_s = 60\n[capabilities]\nFS_WRITE = \"block\"\n[attributes]\ndeny = [\"secret\"]\n",
    );
    write(
        dir.path(),
        "strict",
        "name = \"strict\"\nextends = \"team\"\n[isolation]\ntier = \"kernel\"\n",
    );
    let all = load(dir.path()).unwrap();
    let team = all.iter().find(|p| p.name == "team").unwrap();
    assert_eq!(team.label(), "team (analysis + 1)");
    assert_eq!(team.contract, Contract::Analysis);
    assert!(team.imports.contains_key("lifelines") && team.imports.contains_key("pandas"));
    assert_eq!((team.limits.wall_s, team.limits.cpu_s), (60, 300));
    assert_eq!(team.action(Capability::FsWrite), Action::Block);
    assert!(team.attributes.deny.contains("secret") && team.attributes.deny.contains("gi_frame"));
    let strict = all.iter().find(|p| p.name == "strict").unwrap();
    assert_eq!(
        (strict.label(), strict.tier),
        ("strict (analysis + 1)".to_owned(), Tier::Kernel)
    );
    assert_ne!(strict.sha256, team.sha256);
}

#[test]
fn a_file_that_extends_nothing_is_marked_own_rules() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "mine",
        "name = \"mine\"\ncontract = \"walled\"\n[builtins]\nallow = [\"print\"]\n",
    );
    let all = load(dir.path()).unwrap();
    let mine = all.iter().find(|p| p.name == "mine").unwrap();
    assert_eq!(mine.label(), "mine (own rules)");
    // Nothing is allowed unless the file says so.
    assert_eq!(mine.action(Capability::NetworkOut), Action::Block);
    assert!(mine.guard && mine.imports.is_empty());
}

#[test]
fn only_a_file_that_extends_nothing_tells_private_values() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "open", TELL);
    let policy_text = |name: &str, data: &str| {
        let text = format!("name = \"{name}\"\nextends = \"open\"\n{data}");
        write(dir.path(), name, &text);
    };
    policy_text("same", "");
    policy_text("told", "[data]\nprivate = \"tell\"\n");
    policy_text("closed", "[data]\nprivate = \"hide\"\n");
    let all = load(dir.path()).unwrap();
    let get = |name: &str| all.iter().find(|p| p.name == name).unwrap();
    for (name, private) in [
        ("open", PrivateValues::Tell),
        ("same", PrivateValues::Tell),
        ("told", PrivateValues::Tell),
        ("closed", PrivateValues::Hide),
    ] {
        assert_eq!(get(name).private, private, "{name}");
        assert_eq!(get(name).tells_private(), private == PrivateValues::Tell);
        assert!(get(name).label().ends_with("(own rules)"), "{name}");
    }
    // A closed policy cannot be opened again by extending it, and built-in profiles are closed.
    for (name, base) in [("again", "closed"), ("wide", "analysis")] {
        let text = format!("name = \"{name}\"\nextends = \"{base}\"\n[data]\nprivate = \"tell\"\n");
        let path = write(dir.path(), name, &text);
        let error = load(dir.path()).unwrap_err().to_string();
        let message = format!("{name}.toml:4: `data.private`: `{base}` hides the values");
        assert!(error.contains(&message), "{error}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn the_key_for_private_values_is_bound_and_checked_like_every_other() {
    let sha256 = |text: &str| {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "open", text);
        let all = load(dir.path()).unwrap();
        all.iter().find(|p| p.name == "open").unwrap().sha256
    };
    assert_ne!(sha256(TELL), sha256(&TELL.replace("tell", "hide")));
    for (line, key, says) in [
        ("private = \"tel\"", "data.private", "did you mean `tell`"),
        (
            "private = \"hidden\"",
            "data.private",
            "expected `hide` or `tell`",
        ),
        ("private = true", "data.private", "wanted string"),
        ("privat = \"tell\"", "data.privat", "did you mean `private`"),
    ] {
        let error = load_error("open", &TELL.replace("private = \"tell\"", line));
        assert!(
            error.contains(&format!("open.toml:4: `{key}`: ")),
            "{error}"
        );
        assert!(error.contains(says), "{error}");
    }
    // The scope `private` of the contract `scoped` never leaves a run, whatever a file says.
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "open",
        &TELL.replace("\"analysis\"", "\"scoped\""),
    );
    let all = load(dir.path()).unwrap();
    let open = all.iter().find(|p| p.name == "open").unwrap();
    assert_eq!(open.private, PrivateValues::Tell);
    assert!(!open.tells_private());
    let (_, out, _) = command(dir.path(), &["show", "open"]);
    assert!(
        out.contains("# the contract scoped hides them all the same"),
        "{out}"
    );
}

#[test]
fn loosening_is_refused_by_key() {
    for (key, text) in [
        ("guard", "guard = false"),
        ("contract", "contract = \"walled\""),
        ("imports.socket", "[imports]\nsocket = [\"*\"]"),
        ("imports.operator", "[imports]\noperator = [\"attrgetter\"]"),
        ("imports.numpy", "[imports]\nnumpy = [\"_core\"]"),
        (
            "imports.matplotlib.pyplot",
            "[imports]\n\"matplotlib.pyplot\" = [\"*\"]",
        ),
        ("builtins.allow", "[builtins]\nallow = [\"eval\"]"),
        ("nodes.allow", "[nodes]\nallow = [\"Interactive\"]"),
        (
            "attributes.allow_dunder",
            "[attributes]\nallow_dunder = [\"__globals__\"]",
        ),
        (
            "attributes.define_dunder",
            "[attributes]\ndefine_dunder = [\"__del__\"]",
        ),
        (
            "capabilities.NETWORK_OUT",
            "[capabilities]\nNETWORK_OUT = \"flag\"",
        ),
        ("isolation.tier", "[isolation]\ntier = \"none\""),
        ("data.private", "[data]\nprivate = \"tell\""),
        ("limits.wall_s", "[limits]\nwall_s = 301"),
        (
            "widen.imports.lifelines",
            "[widen.imports]\nlifelines = [\"_private\"]",
        ),
        ("widen.imports.*", "[widen.imports]\n\"*\" = [\"*\"]"),
        ("widen.imports.a b", "[widen.imports]\n\"a b\" = [\"*\"]"),
    ] {
        let error = load_error(
            "team",
            &format!("name = \"team\"\nextends = \"analysis\"\n{text}\n"),
        );
        assert!(error.contains(&format!("`{key}`")), "{text}: {error}");
        assert!(error.contains("team.toml:"), "{text}: {error}");
    }
}

/// The base gives each limit a different number, below the maximum of any file: a file that extends
/// it is refused only for being looser.
#[test]
fn each_of_the_limits_can_be_lowered_and_none_raised() {
    let fields = serde_json::to_value(Limits::default()).unwrap();
    let keys: Vec<&String> = fields.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 11);
    let dir = tempfile::tempdir().unwrap();
    let given = |key: &str| 3 + keys.iter().position(|k| *k == key).unwrap() as u64;
    let lines: String = keys
        .iter()
        .map(|key| format!("{key} = {}\n", given(key)))
        .collect();
    write(
        dir.path(),
        "base",
        &format!("name = \"base\"\nextends = \"analysis\"\n[limits]\n{lines}"),
    );
    let further = |line: &str| {
        let text = format!("name = \"further\"\nextends = \"base\"\n[limits]\n{line}\n");
        write(dir.path(), "further", &text);
        load(dir.path())
    };
    let mut failures = Vec::new();
    let mut refuses = |key: &str, value: u64| {
        let line = format!("{key} = {value}");
        let message = format!(
            "further.toml:4: `limits.{key}`: more than the {} of `base`",
            given(key)
        );
        match further(&line) {
            Ok(_) => failures.push(format!("{line} is taken")),
            Err(error) if error.to_string().contains(&message) => {}
            Err(error) => failures.push(format!("{line}: {error}")),
        }
    };
    for key in &keys {
        refuses(key, given(key) + 1);
    }
    // 0 means no limit on ticks, so it is the loosest value.
    refuses("ticks", 0);
    assert!(failures.is_empty(), "{failures:#?}");
    for key in &keys {
        for value in [given(key), given(key) - 1] {
            let all = further(&format!("{key} = {value}")).unwrap();
            let policy = all.iter().find(|p| p.name == "further").unwrap();
            let limits = serde_json::to_value(policy.limits).unwrap();
            for other in &keys {
                let expected = if other == key { value } else { given(other) };
                assert_eq!(
                    limits[other.as_str()],
                    expected,
                    "{other} after {key} = {value}"
                );
            }
        }
    }
}

/// What a base says is neither looser nor wider when a file says it again.
#[test]
fn what_the_base_says_may_be_said_again() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "base",
        "name = \"base\"\nextends = \"analysis\"\n[widen.imports]\nlifelines = [\"KaplanMeierFitter\"]\n\
         \"scipy.signal\" = [\"butter\"]\n[capabilities]\nFS_WRITE = \"flag\"\n[isolation]\ntier = \"kernel\"\n",
    );
    let extending = |name: &str, base: &str, text: &str| {
        let text = format!("name = \"{name}\"\nextends = \"{base}\"\n{text}");
        write(dir.path(), name, &text);
    };
    extending(
        "same",
        "base",
        "contract = \"analysis\"\nguard = true\n[capabilities]\nFS_WRITE = \"flag\"\n[isolation]\n\
         tier = \"kernel\"\n[widen.imports]\nlifelines = [\"KaplanMeierFitter\"]\n",
    );
    extending(
        "more",
        "same",
        "[widen.imports]\n\"html.parser\" = [\"HTMLParser\"]\nlifelines = [\"KaplanMeierFitter\"]\n",
    );
    extending("off", "script", "guard = false\n");
    extending("on", "script", "guard = true\n");
    let all = load(dir.path()).unwrap();
    let get = |name: &str| all.iter().find(|p| p.name == name).unwrap();
    for (name, label) in [
        ("base", "base (analysis + 2)"),
        ("same", "same (analysis + 2)"),
        ("more", "more (analysis + 3)"),
    ] {
        assert_eq!(get(name).label(), label, "{name}");
        assert_eq!(get(name).tier, Tier::Kernel, "{name}");
        assert_eq!(get(name).action(Capability::FsWrite), Action::Flag);
    }
    assert!(get("on").guard && !get("off").guard);
}

/// Beyond its range a number would be no limit at all, or none under which anything runs.
#[test]
fn each_of_the_limits_has_its_least_and_its_most() {
    const YEAR_S: u64 = 31_536_000;
    const TIB_IN_MIB: u64 = 1_048_576;
    const TIB: u64 = 1_099_511_627_776;
    const MILLION: u64 = 1_048_576;
    for (key, least, most) in [
        ("wall_s", 1, YEAR_S),
        ("cpu_s", 1, YEAR_S),
        ("memory_mb", 1, TIB_IN_MIB),
        ("processes", 1, MILLION),
        ("open_files", 1, MILLION),
        ("file_size_mb", 0, TIB_IN_MIB),
        ("output_bytes", 0, TIB),
        ("artifacts", 0, MILLION),
        ("artifact_bytes", 0, TIB),
        ("code_bytes", 1, 65_536),
    ] {
        let text = |value: u64| {
            format!("name = \"x\"\ncontract = \"walled\"\n[limits]\n{key} = {value}\n")
        };
        for value in [least, most] {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), "x", &text(value));
            let all = load(dir.path()).unwrap_or_else(|e| panic!("{e}"));
            let policy = all.iter().find(|p| p.name == "x").unwrap();
            let limits = serde_json::to_value(policy.limits).unwrap();
            assert_eq!(limits[key], value, "{key}");
        }
        for value in least.checked_sub(1).into_iter().chain([most + 1]) {
            let error = load_error("x", &text(value));
            let message =
                format!("x.toml:4: `limits.{key}`: {value} is not between {least} and {most}");
            assert!(error.contains(&message), "{error}");
        }
    }
}

#[test]
fn modules_and_members_have_the_names_of_python() {
    let load_imports = |line: &str| {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("name = \"x\"\ncontract = \"walled\"\n[imports]\n{line}\n");
        write(dir.path(), "x", &text);
        load(dir.path()).map_err(|e| e.to_string())
    };
    for line in [
        "_a1.b_2 = [\"c3\", \"_d\", \"-e\"]",
        "math = [\"*\", \"-pi\"]",
        "\"*\" = [\"*\"]",
    ] {
        let line = line.replace("_a1.b_2", "\"_a1.b_2\"");
        assert!(load_imports(&line).is_ok(), "{line}");
    }
    for module in ["1a", "a-b", "a b", "a..b", ".a", "a.1", "a.*"] {
        let error = load_imports(&format!("\"{module}\" = [\"*\"]")).unwrap_err();
        let message = format!("x.toml:4: `imports.{module}`: not the name of a module");
        assert!(error.contains(&message), "{error}");
    }
    for member in ["1a", "a.b", "a b", "-", "--a", "-1", "-*", ""] {
        let error = load_imports(&format!("math = [\"{member}\"]")).unwrap_err();
        let message = format!("x.toml:4: `imports.math`: `{member}` is not the name of a member");
        assert!(error.contains(&message), "{error}");
    }
}

/// A file with its own rules cannot either: the runner enforces the rules.
#[test]
fn no_file_allows_the_runners_own_modules() {
    for module in ["_countersign", "_countersign.gates"] {
        let error = load_error(
            "mine",
            &format!("name = \"mine\"\ncontract = \"walled\"\n[imports]\n\"{module}\" = [\"*\"]\n"),
        );
        let message = format!("mine.toml:4: `imports.{module}`: it belongs to the runner");
        assert!(error.contains(&message), "{error}");
    }
}

#[test]
fn an_error_names_file_line_key_and_the_nearest_name() {
    let error = load_error(
        "team",
        "name = \"team\"\nextends = \"analysis\"\n[limits]\nwal_s = 3\n",
    );
    assert!(error.contains("team.toml:4"), "{error}");
    assert!(
        error.contains("wal_s") && error.contains("did you mean `wall_s`"),
        "{error}"
    );
    let error = load_error("team", "name = \"team\"\nextends = \"analisis\"\n");
    assert!(
        error.contains(":2") && error.contains("did you mean `analysis`"),
        "{error}"
    );
    let error = load_error("team", "name = \"team\"\ncontract = \"walledd\"\n");
    assert!(
        error.contains(":2") && error.contains("did you mean `walled`"),
        "{error}"
    );
    let error = load_error(
        "team",
        "name = \"team\"\n[capabilities]\nNETWORK_OT = \"block\"\n",
    );
    assert!(error.contains("did you mean `NETWORK_OUT`"), "{error}");
    let error = load_error(
        "team",
        "name = \"team\"\nextends = \"analysis\"\n[isolation]\ntier = \"kernal\"\n",
    );
    assert!(error.contains("did you mean `kernel`"), "{error}");
    assert!(load_error("team", "name = ").contains("team.toml:1"));
    for (line, key) in [
        ("wall_s = -1", "limits.wall_s"),
        ("wall_s = 0", "limits.wall_s"),
        ("cpu_s = \"60\"", "limits.cpu_s"),
        ("cpu_s = 9223372036854775807", "limits.cpu_s"),
        ("memory_mb = 0", "limits.memory_mb"),
        ("open_files = 1.5", "limits.open_files"),
        ("code_bytes = 65537", "limits.code_bytes"),
    ] {
        let text = format!("name = \"x\"\ncontract = \"walled\"\n[limits]\n{line}\n");
        let error = load_error("x", &text);
        assert!(error.contains(&format!("x.toml:4: `{key}`: ")), "{error}");
    }
    let text = "name = \"x\"\ncontract = \"walled\"\n[builtins]\nallow = [\n  \"abs\",\n  7,\n]\n";
    assert!(load_error("x", text).contains("x.toml:6: `builtins.allow`: "));
}

#[test]
fn a_name_is_the_files_own_and_never_a_built_ins() {
    assert!(load_error("team", "name = \"other\"\nextends = \"analysis\"\n").contains("`team`"));
    for name in [
        "analysis", "feature", "chart", "scoped", "walled", "script", "Analysis", "SCRIPT",
    ] {
        let error = load_error(
            name,
            &format!("name = \"{name}\"\nextends = \"analysis\"\n"),
        );
        assert!(error.contains("built-in"), "{error}");
    }
}

#[test]
fn a_name_is_up_to_64_plain_characters() {
    let text = |name: &str| format!("name = \"{name}\"\nextends = \"analysis\"\n");
    let longest = "a".repeat(64);
    for name in ["t", "Team-2_b", longest.as_str()] {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), name, &text(name));
        let all = load(dir.path()).unwrap();
        assert!(all.iter().any(|p| p.name == name), "{name}");
    }
    let longer = "a".repeat(65);
    for name in ["t m", "t.m", "té", "t\u{202e}m", longer.as_str()] {
        let error = load_error(name, &text(name));
        let message = "`name`: a name is up to 64 letters, digits, `-` and `_`";
        assert!(error.contains(message), "{name}: {error}");
    }
}

#[test]
fn circles_and_lonely_widening_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a", "name = \"a\"\nextends = \"b\"\n");
    write(dir.path(), "b", "name = \"b\"\nextends = \"a\"\n");
    assert!(load(dir.path()).unwrap_err().to_string().contains("circle"));
    let text = "name = \"x\"\ncontract = \"walled\"\n[widen.imports]\na = [\"b\"]\n";
    assert!(load_error("x", text).contains("extends"));
    assert!(load_error("x", "name = \"x\"\n").contains("contract"));
    assert!(
        load_error(
            "x",
            "name = \"x\"\ncontract = \"script\"\nguard = false\n[isolation]\ntier = \"process\"\n"
        )
        .contains("`guard`")
    );
}

#[test]
fn a_file_that_others_can_write_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = write(
        dir.path(),
        "team",
        "name = \"team\"\nextends = \"analysis\"\n",
    );
    for mode in [0o664, 0o646, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = load(dir.path()).unwrap_err().to_string();
        assert!(error.contains("chmod"), "{error}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    load(dir.path()).unwrap();
    // Files are also refused in a folder where others can replace them, and through a link into
    // one.
    for mode in [0o777, 0o1777] {
        let open = tempfile::tempdir().unwrap();
        let target = write(
            open.path(),
            "linked",
            "name = \"linked\"\nextends = \"analysis\"\n",
        );
        let link = dir.path().join("linked.toml");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        load(dir.path()).unwrap();
        fs::set_permissions(open.path(), fs::Permissions::from_mode(mode)).unwrap();
        for folder in [dir.path(), open.path()] {
            let error = load(folder).unwrap_err().to_string();
            let message = format!("{}: others can write this folder", open.path().display());
            assert!(error.starts_with(&message), "{error}");
        }
        fs::remove_file(link).unwrap();
    }
    let root = nix::unistd::geteuid().is_root();
    if is_given_to_root(root, "root, so no file of another user") {
        std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
        let error = load(dir.path()).unwrap_err().to_string();
        assert!(error.contains("12345"), "{error}");
    }
}
