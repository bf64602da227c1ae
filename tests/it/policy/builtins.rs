//! The six built-in profiles, and their lists from the five prior systems.

use countersign::analysis::analyse;
use countersign::model::{Capability, Tier, VerdictKind};
use countersign::policy::{Origin, PrivateValues, builtin};

#[test]
fn the_built_in_profiles_are_the_six_and_hold_what_they_promise() {
    let all = builtin().unwrap();
    let names: Vec<_> = all.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        names,
        ["analysis", "feature", "chart", "scoped", "walled", "script"]
    );
    let get = |name: &str| all.iter().find(|p| p.name == name).unwrap();
    assert_eq!(get("feature").builtins.len(), 21);
    assert_eq!(get("feature").limits.wall_s, 60);
    assert!(!get("feature").nodes.contains("Import"));
    assert_eq!(get("chart").limits.wall_s, 5);
    assert!(get("chart").imports.contains_key("_strptime"));
    assert_eq!(get("analysis").limits.output_bytes, 200_000);
    let walled: Vec<&str> = get("walled").imports.keys().map(String::as_str).collect();
    assert_eq!(walled, ["__future__", "dataclasses"]);
    assert!(get("walled").limits.ticks > 0);
    assert!(!get("script").guard && get("script").tier == Tier::Kernel);
    for p in &all {
        assert_eq!(p.private, PrivateValues::Hide);
        assert_eq!(p.origin, Origin::Builtin);
        assert_eq!(p.label(), p.name);
        for capability in Capability::ALL {
            assert!(
                p.capabilities.contains_key(&capability),
                "{} {capability}",
                p.name
            );
        }
        let json = serde_json::to_string(&**p).unwrap();
        assert_eq!(
            serde_json::from_str::<countersign::policy::Policy>(&json).unwrap(),
            **p
        );
    }
}

/// The words of a text, as a set.
fn set(text: &str) -> std::collections::BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The lists from the documents of the five prior systems, word for word, and the differences of
/// the profiles from them.
#[test]
fn the_lists_of_the_five_systems_match_their_documents() {
    let all = builtin().unwrap();
    let get = |name: &str| all.iter().find(|p| p.name == name).unwrap();

    // Firefly DataScience: 21 builtins, denied modules and builtins, every dunder.
    let feature = get("feature");
    assert_eq!(
        feature.builtins,
        set(
            "abs min max sum round len range enumerate zip map filter sorted float int bool str list \
             dict tuple set pow"
        )
    );
    for denied in [
        "os",
        "sys",
        "subprocess",
        "shutil",
        "socket",
        "pathlib",
        "importlib",
        "builtins",
    ] {
        let verdict = |code: String| analyse(code.as_bytes(), feature).verdict;
        assert_eq!(verdict(format!("import {denied}")), VerdictKind::Blocked);
        assert_eq!(
            verdict(format!("from {denied} import x")),
            VerdictKind::Blocked
        );
        assert!(!feature.imports.contains_key(denied));
    }
    for denied in set("eval exec compile open __import__ input globals locals vars getattr setattr")
    {
        let verdict = analyse(format!("x = {denied}").as_bytes(), feature).verdict;
        assert_eq!(verdict, VerdictKind::Blocked, "{denied}");
    }
    assert!(
        feature.attributes.allow_dunder.is_empty() && feature.attributes.define_dunder.is_empty()
    );
    assert_eq!(feature.limits.wall_s, 60);

    // RePORTaLiN: the caps of its operational knobs; its lists are not in its document.
    let analysis = get("analysis");
    let limits = &analysis.limits;
    assert_eq!(
        (limits.wall_s, limits.output_bytes, limits.artifacts),
        (300, 200_000, 20)
    );
    for denied in ["eval", "compile", "__import__", "exec"] {
        assert!(!analysis.builtins.contains(denied));
    }

    // Dana: scopes are given; builtins come from an allow-list; eval is its own example of a refusal.
    let scoped = get("scoped");
    assert!(scoped.imports.is_empty() && !scoped.builtins.contains("eval"));
    assert!(set("print sum max list dict str int").is_subset(&scoped.builtins));

    // QDash: 18 modules, its safe builtins, its forbidden dunders, 5 s and 100 KB.
    let chart = get("chart");
    let modules = set(
        "numpy pandas scipy scipy.stats scipy.optimize scipy.signal scipy.interpolate \
                       plotly plotly.graph_objects plotly.express plotly.subplots math statistics json \
                       datetime _strptime collections io",
    );
    assert_eq!(modules.len(), 18);
    // QDash reaches these modules through their parent; here each has its own entry.
    let through_numpy = set("numpy.fft numpy.linalg numpy.random");
    assert_eq!(
        chart
            .imports
            .keys()
            .cloned()
            .collect::<std::collections::BTreeSet<_>>(),
        &modules | &through_numpy
    );
    assert_eq!(chart.imports["io"], set("StringIO"));
    assert_eq!(
        chart.builtins,
        set(
            "print len range dict list int float str bool tuple set frozenset enumerate zip map filter \
             sorted reversed min max sum abs round isinstance True False None ValueError TypeError \
             KeyError IndexError ZeroDivisionError Exception"
        )
    );
    for dunder in set(
        "__subclasses__ __bases__ __mro__ __globals__ __code__ __builtins__ __import__ \
                       __loader__ __spec__",
    ) {
        assert!(!chart.attributes.allow_dunder.contains(&dunder));
        for code in [format!("x = [].{dunder}"), format!("x = {dunder}")] {
            let verdict = analyse(code.as_bytes(), chart).verdict;
            assert_eq!(verdict, VerdictKind::Blocked, "{code}");
        }
    }
    assert_eq!(
        (chart.limits.wall_s, chart.limits.output_bytes),
        (5, 100_000)
    );

    // sandtrap: its builtins, and `print`, which its host provides; some forty exceptions,
    // including those of files.
    let walled = get("walled");
    let listed = set(
        "abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict \
                      divmod enumerate filter float format frozenset getattr hasattr hash hex id int \
                      isinstance issubclass iter len list locals map max min next object oct ord pow \
                      property range repr reversed round set slice sorted staticmethod str sum super \
                      tuple type zip",
    );
    let (plain, exceptions): (std::collections::BTreeSet<String>, Vec<String>) = {
        let (a, b): (Vec<_>, Vec<_>) = walled
            .builtins
            .iter()
            .cloned()
            .partition(|n| n.starts_with(|c: char| c.is_lowercase()));
        (a.into_iter().collect(), b)
    };
    assert_eq!(plain, &listed | &set("print"));
    assert!(
        (40..=60).contains(&exceptions.len()),
        "{}",
        exceptions.len()
    );
    for there in set(
        "FileExistsError FileNotFoundError IsADirectoryError NotADirectoryError PermissionError \
         ConnectionError BlockingIOError BrokenPipeError ChildProcessError InterruptedError SystemError",
    ) {
        assert!(walled.builtins.contains(&there), "{there}");
    }
    for absent in set(
        "exec eval compile __import__ globals vars open dir help breakpoint exit quit input \
                       memoryview BaseException KeyboardInterrupt GeneratorExit SystemExit",
    ) {
        assert!(!walled.builtins.contains(&absent), "{absent}");
    }
}
