//! Questions about the log on screen 2: answered, explained, and completed, in a real terminal.

use serde_json::json;

use crate::common::dash::{Dash, Options};

#[test]
fn screen_2_takes_a_question_says_what_is_wrong_with_it_and_shows_who_decided() {
    let mut dash = Dash::with(&Options {
        size: (120, 40),
        ..Options::default()
    });
    let mut agent = dash.agent();
    let denied = agent.propose(json!({"code": "print(1)\n", "title": "to be denied"}));
    dash.wait_text("to be denied");
    dash.go_to_urgent();
    dash.press("d");
    dash.wait_text("reason for");
    dash.keys("no");
    dash.press("\r");
    dash.wait_for("the denial", |d, _| {
        d.log_text().contains("\"kind\":\"denied\"")
    });
    agent.propose(json!({"code": "print(2)\n", "title": "still waits"}));
    dash.wait_text("still waits");
    dash.keys("2");
    let rows = dash.wait_for("both rows", |_, text| {
        text.contains("outcome") && text.contains("to be denied") && text.contains("still waits")
    });
    let row = rows.lines().find(|row| row.contains("to be denied"));
    assert!(row.is_some_and(|row| row.contains(" denied ")), "{rows}");

    // What cannot be read stays, with its place.
    dash.press("/");
    dash.wait_text("WHAT CAN STAND HERE");
    dash.keys("stat:denied");
    dash.press("\r");
    let wrong = dash.wait_text("did you mean `state`?");
    assert!(
        wrong.contains("^^^^") && wrong.contains("query: stat:denied"),
        "{wrong}"
    );
    for _ in 0.."stat:denied".len() {
        dash.keys("\x7f");
    }
    // Completed: the key, then its value.
    dash.keys("stat\t");
    dash.wait_text("query: state:");
    dash.keys("den\t");
    dash.wait_text("query: state:denied");
    dash.press("\r");
    let answered = dash.wait_text("1 proposal  query: state:denied");
    assert!(
        answered.contains("to be denied") && !answered.contains("still waits"),
        "{answered}"
    );
    // Its record, and back to the question's rows, then to all.
    dash.press("\r");
    let id = denied["id"].as_str().unwrap();
    dash.wait_text("PROPOSAL");
    dash.wait_text("to be denied");
    dash.press("i");
    dash.wait_text("The records, as they were written:");
    dash.press("i");
    dash.wait_text("TIMELINE");
    dash.press("\x1b");
    dash.wait_text("1 proposal  query: state:denied");
    dash.press("\x1b");
    dash.wait_text("still waits");
    // By the code, from the index as `audit list` has it.
    dash.press("/");
    dash.wait_text("WHAT CAN STAND HERE");
    dash.keys(&format!("id:{id}"));
    dash.press("\r");
    dash.wait_text("1 proposal  query: id:");
}
