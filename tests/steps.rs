//! What a run leaves for later: files and folders in memory that come back, and results that a later step of the
//! session asks for by name. Through a real dashboard, a real socket and real children.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

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
allow = ["OSError", "open", "print", "range", "sorted"]
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
        config: "profiles = [\"walled\", \"filed\"]\nprofile = \"filed\"\n",
        policies: &[("filed.toml", FILED)],
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
    let wanted = json!({"id": proposal["id"], "name": "out/2024/a.txt"});
    let part = agent.call("artifact", wanted.clone());
    let part = STANDARD.decode(part["result"]["base64"].as_str().unwrap());
    assert_eq!(part.unwrap(), b"deep");

    // What leads out is blocked, by its text; where `..` stays inside it is not.
    for (path, state) in [
        ("../a", "blocked"),
        ("a/../../b", "blocked"),
        ("/etc/a", "blocked"),
        ("a/../b", "pending"),
    ] {
        let proposal = agent.code(&format!("open('{path}', 'w')\n"));
        assert_eq!(proposal["state"], state, "{path}: {proposal}");
    }
    // Without a grant of the policy there is none.
    let proposal =
        agent.propose(json!({"code": "import os\nos.mkdir('a')\n", "profile": "walled"}));
    assert_eq!(proposal["state"], "blocked", "{proposal}");
}
