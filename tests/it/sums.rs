//! Screen 2 through a real terminal: what its rows come to, how they divide, and what is written of them.

use serde_json::json;

use crate::common;

use common::dash::Dash;

/// A proposal that its agent took back, whose name claims to be a state, and one that a person denied.
fn two() -> Dash {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let mut propose = |name: &str| {
        agent.propose(json!({
            "code": format!("print('{name}')\n"), "title": "a title", "agent": {"name": name},
        }))
    };
    let (first, second) = (propose("granted"), propose("etl-bot"));
    agent.call("withdraw", json!({"id": first["id"]}));
    assert_eq!(agent.outcome(&first["id"])["state"], "withdrawn");
    dash.go_to_urgent();
    dash.keys("dno\r");
    assert_eq!(agent.outcome(&second["id"])["state"], "denied");
    // A key right behind the Enter of a field counts as the rest of a paste.
    dash.press_until("2", "the log", |text| text.contains("AUDIT  2 proposals"));
    dash
}

#[test]
fn statistics_of_the_question_are_a_key_away() {
    let mut dash = two();
    dash.press("B");
    let text = dash.wait_text("0 expired before anybody decided; days and hours of ");
    assert!(text.contains("STATISTICS  2 proposals"), "{text}");
    dash.press("/");
    dash.keys("agent:etl-bot");
    dash.press("\r");
    dash.wait_text("STATISTICS  1 proposal  query: agent:etl-bot");
    dash.wait_text("1: 0 granted, 1 denied");
    dash.press("B");
    dash.wait_text("AUDIT  1 proposal");
}

#[test]
fn a_value_of_the_facets_narrows_the_question_and_widens_it_again() {
    let mut dash = two();
    dash.press("F");
    let text = dash.wait_text("AGENT");
    assert!(text.contains("FACETS"), "{text}");
    // What an agent calls itself stands with the agents.
    let at = |word: &str| {
        let line = |line: &str| line.trim_start().starts_with(word);
        text.lines().position(line)
    };
    assert!(
        at("AGENT") < at("granted") && at("AGENT").is_some(),
        "{text}"
    );
    // The cursor is on the first state.
    dash.press("\r");
    let text = dash.wait_text("query: state:denied");
    assert!(text.contains("FACETS"), "{text}");
    dash.wait_text("✓ denied");
    dash.press("/");
    dash.wait_text("query: state:denied");
    dash.press("\x1b");
    dash.press("\r");
    dash.wait_for("the whole log", |_, text| {
        text.contains("FACETS") && !text.contains("query:") && text.contains("AGENT")
    });
    dash.press("F");
    dash.wait_text("AUDIT  2 proposals");
}

#[test]
fn an_export_from_the_screen_goes_into_a_new_folder_and_over_nothing() {
    let mut dash = two();
    let folder = dash.root().join("exported");
    let typed = folder.display().to_string();
    dash.press("E");
    dash.wait_text("one row for each proposal");
    dash.press("\t");
    dash.wait_text("csv into");
    dash.press("\x15");
    dash.keys(&typed);
    dash.press("\r");
    dash.wait_for("the export", |_, _| folder.join("proposals.csv").exists());
    dash.wait_text("wrote proposals.csv, 2 proposals with 4 records");
    let text = std::fs::read_to_string(folder.join("proposals.csv")).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    let mode = |path: &std::path::Path| {
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions())
            & 0o777
    };
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("proposals.csv")), 0o600);
    dash.press("E");
    dash.press("\x15");
    dash.keys(&typed);
    dash.press("\r");
    dash.wait_text("nothing is exported: ");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}
