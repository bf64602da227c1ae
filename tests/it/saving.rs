//! Saving what a run left makes none of it run: the files go into a new folder, and names that programs read by
//! themselves go nowhere.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::os::unix::fs::PermissionsExt as _;

use common::dash::Dash;
use common::given;

const CODE: &str = "import os
os.makedirs('.config/autostart', exist_ok=True)
open('.bash_profile', 'w').write('id\\n')
open('.config/autostart/x.desktop', 'w').write('[Desktop Entry]\\nExec=id\\n')
open('report.csv', 'w').write('a,b\\n')
print('done')
";

#[test]
fn s_writes_no_file_that_a_program_of_the_home_folder_reads_by_itself() {
    let mut dash = Dash::start();
    let home = dash.root().join("home");
    std::fs::create_dir_all(&home).unwrap();
    let mut agent = dash.agent();
    let proposal = agent.code(CODE);
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    dash.wait_text("report.csv, text/csv");
    dash.press("S");
    // The last row of its frame.
    let asked = dash.wait_text("save 1 of 3 files into: ~/");
    assert!(asked.contains("not saved: \".bash_profile\""), "{asked}");
    dash.press("\r");
    dash.wait_text("saved 1 of 3 files in ~/countersign-");
    let below = |path: &std::path::Path| {
        let entries = std::fs::read_dir(path).unwrap();
        entries
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    let made: Vec<_> = below(&home)
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(name != ".bash_profile" && name != ".config", "{name}");
            name.starts_with("countersign-")
        })
        .collect();
    let [own] = made.as_slice() else {
        panic!("{made:?}");
    };
    assert_eq!(own.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(below(own), [own.join("report.csv")]);
    // The log's copy goes the same way.
    let out = dash.root().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("report.csv"), "mine").unwrap();
    let id = proposal["id"].as_str().unwrap();
    let shown = dash.cli(&["audit", "show", id, "--out", out.to_str().unwrap()]);
    assert!(!shown.status.success());
    let told = String::from_utf8(shown.stderr).unwrap();
    assert!(
        told.contains(".bash_profile: a name that programs read by themselves"),
        "{told}"
    );
    assert_eq!(below(&out), [out.join("report.csv")]);
    assert_eq!(std::fs::read(out.join("report.csv")).unwrap(), b"mine");
    // A link of the user leads on; one that somebody else made does not, wherever it stands.
    let link = dash.root().join("link");
    std::os::unix::fs::symlink(&out, &link).unwrap();
    let to = |path: &std::path::Path| {
        let path = path.to_str().unwrap();
        let shown = dash.cli(&["audit", "show", id, "--out", path]);
        (
            shown.status.code(),
            String::from_utf8(shown.stderr).unwrap(),
        )
    };
    to(&link.join("mine"));
    assert_eq!(below(&out.join("mine")), [out.join("mine/report.csv")]);
    if given::is_given_to_root(nix::unistd::geteuid().is_root(), "root") {
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        let (code, told) = to(&link.join("theirs"));
        assert_eq!(code, Some(2), "{told}");
        assert!(
            told.contains(
                "/link is a link that uid 65534 made; only your own and root's are followed"
            ),
            "{told}"
        );
        assert!(!out.join("theirs").exists());
    }
}
