//! What a run leaves for later: files and folders in memory that are returned, and results that a
//! later step of the session requests by name. With a real dashboard, a real socket and real
//! children.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::dash::{Dash, Options};
use serde_json::json;

/// The rules of `walled`, with files in memory that are collected.
const FILED: &str = r#"name = "filed"
contract = "walled"
[imports]
os = ["listdir", "makedirs", "mkdir", "path", "walk"]
"os.path" = ["exists", "isdir", "join"]
pathlib = ["Path"]
[builtins]
allow = ["OSError", "len", "open", "print", "range", "sorted", "str"]
[nodes]
allow = ["*"]
[capabilities]
FS_READ = "note"
FS_WRITE = "note"
[limits]
artifacts = 4
artifact_bytes = 1000000
"#;

#[test]
fn s5_folders_in_memory_come_back_whole_and_nothing_leads_out_of_them() {
    let mut dash = Dash::with(&Options {
        config: "profiles = [\"walled\", \"filed\"]\nprofile = \"filed\"\n[datasets.sales]\npath = \"sales.csv\"\n",
        policies: &[("filed.toml", FILED)],
        files: &[("sales.csv", "region,amount\nnorth,1\n")],
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({
        "code": "import os\nfrom pathlib import Path\n\
                 os.makedirs('out/2024', exist_ok=True)\n\
                 with open('out/2024/../2024/a.txt', 'w') as f:\n    f.write('deep')\n\
                 for n in range(2):\n    Path(f'out/{n}.txt').write_text('n')\n\
                 print(sorted(os.listdir('out')), os.path.exists('out/2024/a.txt'), notes)\n\
                 try:\n    os.listdir('out/../..')\nexcept OSError as error:\n    print('stays in')\n",
        "inputs": {"notes": {"json": [1]}},
    }));
    assert_eq!(proposal["verdict"]["verdict"], "clear", "{proposal}");
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    assert_eq!(
        outcome["run"]["stdout"],
        "['0.txt', '1.txt', '2024'] True [1]\nstays in\n"
    );
    let artifacts = outcome["run"]["artifacts"].as_array().unwrap();
    let names = artifacts.iter().map(|a| a["name"].as_str().unwrap());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["out/0.txt", "out/1.txt", "out/2024/a.txt"]
    );
    let expected = json!({"id": proposal["id"], "name": "out/2024/a.txt"});
    let part = agent.call("artifact", expected.clone());
    let part = STANDARD.decode(part["result"]["base64"].as_str().unwrap());
    assert_eq!(part.unwrap(), b"deep");

    // Glob patterns search folders, and a data set is there under its file name.
    let proposal = agent.propose(json!({
        "code": "from pathlib import Path\nPath('a/b').mkdir(parents=True)\nPath('a/b/c.txt').write_text('x')\n\
                 Path('d.txt').write_text('y')\nroot = Path('.')\n\
                 print([str(p) for p in root.glob('*.txt')], [str(p) for p in root.rglob('*.txt')],\n      \
                 [str(p) for p in root.glob('a/*')], len(open('sales').read()), sales)\n",
        "inputs": {"sales": {"dataset": "sales"}},
    }));
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(
        outcome["run"]["stdout"],
        "['d.txt'] ['a/b/c.txt', 'd.txt'] ['a/b'] 22 [{'region': 'north', 'amount': '1'}]\n",
        "{outcome}"
    );

    // Paths that lead out are blocked by their text; `..` that stays inside is allowed.
    for (path, state) in [
        ("../a", "blocked"),
        ("a/../../b", "blocked"),
        ("/etc/a", "blocked"),
        ("a/../b", "pending"),
    ] {
        let proposal = agent.code(&format!("open('{path}', 'w')\n"));
        assert_eq!(proposal["state"], state, "{path}: {proposal}");
    }
    // A policy that does not list these functions blocks them.
    let proposal =
        agent.propose(json!({"code": "import os\nos.mkdir('a')\n", "profile": "walled"}));
    assert_eq!(proposal["state"], "blocked", "{proposal}");
}

#[test]
fn q2_a_later_step_of_the_session_asks_for_a_result_by_its_name() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    agent.call("hello", json!({"protocol": 1}));
    let mut run = |dash: &mut Dash, params: serde_json::Value| {
        let proposal = agent.propose(params);
        dash.grant(&mut agent, &proposal);
        let outcome = agent.outcome(&proposal["id"]);
        assert_eq!(outcome["state"], "succeeded", "{outcome}");
        outcome
    };
    let result_of =
        |outcome: &serde_json::Value| json!({"artifact": {"id": outcome["id"], "name": "result"}});
    let first = run(
        &mut dash,
        json!({"code": "{'t1': [45.0, 46.5]}\n", "profile": "analysis"}),
    );
    assert_eq!(
        first["run"]["artifacts"],
        json!([]),
        "kept without being a file"
    );
    let second = run(
        &mut dash,
        json!({
            "code": "ys = data['earlier']['value']['t1']\n\
                     result = {'output': f'{len(ys)} of them', 'chart': {'data': [{'y': ys}]}}\n",
            "profile": "chart",
            "inputs": {"earlier": result_of(&first)},
        }),
    );
    assert_eq!(second["run"]["result"]["output"], "2 of them");
    let third = run(
        &mut dash,
        json!({
            "code": "print(before['output'], before['chart']['data'][0]['y'])\n\
                     open('result', 'w').write('a file of its own')\n1\n",
            "profile": "analysis",
            "inputs": {"before": result_of(&second)},
        }),
    );
    assert_eq!(third["run"]["stdout"], "2 of them [45.0, 46.5]\n1\n");

    // The result is read like a file, and a file with the same name cannot replace it.
    let mut read = |id: &serde_json::Value| {
        let part = agent.call("artifact", json!({"id": id, "name": "result"}));
        let part = part["result"]["base64"]
            .as_str()
            .map(|p| STANDARD.decode(p).unwrap());
        part.map(|bytes| String::from_utf8(bytes).unwrap())
    };
    assert_eq!(
        read(&first["id"]).unwrap(),
        r#"{"value":{"t1":[45.0,46.5]}}"#
    );
    assert_eq!(read(&third["id"]).unwrap(), r#"{"value":1}"#);
    assert_eq!(
        third["run"]["artifacts_refused"],
        json!([{"name": "result", "reason": "reserved"}])
    );
    let text = third["message"].as_str().unwrap();
    assert!(text.contains("`result` is not collected"), "{text}");

    // A run without a result has none to read, and another session cannot read this session's.
    let silent = run_silent(&mut dash);
    assert_eq!(silent["error"]["data"]["expected"], json!([]), "{silent}");
    let mut other = dash.agent();
    let params = json!({"code": "1\n", "inputs": {"x": result_of(&first)}});
    let refused = other.call("propose", params);
    assert_eq!(refused["error"]["code"], -32004, "{refused}");
    assert!(dash.cli(&["audit", "verify"]).status.success());
}

/// The answer to a request for the result of a run that has none.
fn run_silent(dash: &mut Dash) -> serde_json::Value {
    let mut agent = dash.agent();
    let proposal = agent.code("x = 1\n");
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["run"]["result"], json!(null), "{outcome}");
    agent.call("artifact", json!({"id": proposal["id"], "name": "result"}))
}

#[test]
fn walled_has_what_it_lists_of_sandtrap_with_locals_and_errors_of_files() {
    let mut dash = Dash::with(&Options {
        config: "profile = \"walled\"\n",
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.code(
        "a = 1\ndef f(x):\n    y = x\n    return locals()\nprint(f(2), sorted(locals()))\n\
         class C:\n    z = 3\n    held = sorted(locals())\nprint(C.held)\n\
         locals()['a'] = 5\nprint(a, [sorted(locals()) for _ in (1,)])\n\
         print([isinstance(v, dict) for v in map(lambda g: g(), [locals])])\n\
         try:\n    raise FileNotFoundError(2, 'gone')\nexcept (FileExistsError, FileNotFoundError) as e:\n    print(e)\n",
    );
    assert_eq!(proposal["verdict"]["verdict"], "clear", "{proposal}");
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    let output = outcome["run"]["stdout"].as_str().unwrap();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "{'x': 2, 'y': 2} ['a', 'f']", "{outcome}");
    assert_eq!(lines[1], "['z']");
    assert!(lines[2].starts_with("1 [["), "a copy: {output}");
    assert!(!output.contains("__"), "nothing of Python's own: {output}");
    assert_eq!(lines[3..], ["[True]", "[Errno 2] gone"]);
}
