//! What was heard counts, is not told twice, and is found again; a key says what it did, or will do, once.

use super::super::super::action::Action as Asked;
use super::super::super::ui::of_namesakes;
use super::*;

#[test]
fn findings_that_were_read_out_before_a_denial_count_as_shown() {
    for (ms, shown) in [(100, 0), (5_000, 1)] {
        let mut v = Voice::of(Making::flagged());
        v.wait(600);
        v.keys(" ");
        v.wait(ms);
        v.keys("dno");
        v.wait(600);
        let actions = v.b.press(KeyCode::Enter);
        let Some(Asked::Deny { viewed, .. }) = actions.first() else {
            panic!("{actions:?}");
        };
        assert_eq!(viewed.findings_shown, shown, "{ms} ms");
    }
}

#[test]
fn findings_that_were_read_out_in_their_pane_count_as_shown() {
    let mut v = Voice::of(Making::flagged());
    v.wait(600);
    for _ in 0..9 {
        if v.key(KeyCode::Tab).starts_with("FINDINGS") {
            break;
        }
    }
    v.wait(5_000);
    v.keys("dno");
    v.wait(600);
    let actions = v.b.press(KeyCode::Enter);
    let Some(Asked::Deny { viewed, .. }) = actions.first() else {
        panic!("{actions:?}");
    };
    assert_eq!((viewed.findings_shown, viewed.lines_seen), (1, 0));
}

#[test]
fn the_end_of_code_does_not_offer_a_grant_before_its_rows_count() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(600);
    let first = v.keys(" ");
    assert!(
        first.contains("Once the rows were heard, a asks to grant"),
        "{first}"
    );
    assert_eq!(
        v.keys(" "),
        "End of the code. Once the rows were heard, a asks to grant; d denies.\n"
    );
    let early = v.keys("a");
    assert!(
        early.contains("not seen for long enough yet") && !early.contains("in all"),
        "{early}"
    );
    v.wait(5_000);
    assert_eq!(v.keys(" "), "End of the code. a asks to grant, d denies.\n");
}

#[test]
fn a_return_to_what_was_read_says_so_and_repeats_no_fact_on_the_sheet() {
    let mut v = Voice::of(Making::clear(&lines(30)));
    v.b.propose(Making::clear("b = 2\n"));
    v.wait(600);
    v.read();
    v.keys("j");
    v.wait(600);
    v.keys(" ");
    v.keys("k");
    v.wait(3_000);
    let sheet = v.ask();
    assert!(sheet.contains("as read before"), "{sheet}");
    v.key(KeyCode::Esc);
    v.keys("jk");
    v.wait(3_000);
    let said = v.keys(" ");
    assert!(
        said.contains("\nRows 1 to 20 were read before; Home reads from the first.\n21: "),
        "{said}"
    );
}

#[test]
fn a_search_in_output_says_where_its_match_is_and_reads_that_row() {
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.start();
    let text: String = (1..=60).map(|i| format!("row {i}\n")).collect();
    v.b.end(id, run(&text));
    v.wait(3_000);
    while !v.key(KeyCode::Tab).starts_with("OUTPUT") {}
    v.keys("/row 5");
    let said = v.key(KeyCode::Enter);
    assert_eq!(
        said,
        "\nfound \"row 5\" in OUTPUT, 1 of 11:\nrow 5 of 60:\nout: row 5\nSpace reads on from here.\n"
    );
    assert_eq!(v.keys("n"), "match 2 of 11, row 50 of 60:\nout: row 50\n");
    v.keys("N");
    assert!(v.keys(" ").starts_with("out: row 6\n"));
    v.keys("/zebra");
    assert_eq!(v.key(KeyCode::Enter), "\nnot found in OUTPUT: zebra\n");
}

#[test]
fn after_a_run_space_says_where_its_output_is_and_reads_from_the_first_row() {
    let mut v = Voice::of(Making::clear(&lines(30)));
    let id = v.start();
    v.b.end(id, run("2\n"));
    v.wait(3_000);
    let said = v.keys(" ");
    let rows: Vec<&str> = said.lines().collect();
    assert_eq!(
        rows[0],
        "The run is over: Tab goes to its OUTPUT, then to its OUTCOME. The code again:"
    );
    assert!(rows[1].starts_with("1: "), "{said}");
    assert!(v.keys(" ").starts_with("11: "));
}

#[test]
fn a_held_key_that_goes_no_further_is_answered_once() {
    let mut v = Voice::of(Making::clear(CODE));
    v.b.propose(Making::clear("b = 2\n"));
    v.wait(600);
    v.keys("j");
    let said = v.keys(&"j".repeat(30));
    assert_eq!(said.matches("last row: ").count(), 1, "{said}");
    v.wait(1_000);
    assert!(v.keys("j").starts_with("last row: "));
    v.keys(" ");
    v.wait(5_000);
    let said = v.keys(&" ".repeat(30));
    assert_eq!(said, "End of the code. a asks to grant, d denies.\n");
}

#[test]
fn a_command_that_was_not_said_yet_is_named_with_its_agent_before_enter_does_it() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(3_000);
    v.keys(":pau");
    let said = v.key(KeyCode::Enter).replace("\n.. ", " ");
    assert!(
        said.contains("pause: ")
            && said.contains("; the agent is notebook. Enter again does it.\n"),
        "{said}"
    );
    assert!(v.b.actions.is_empty());
    assert!(v.key(KeyCode::Enter).contains("notebook is paused"));
    // What was told is done at once.
    v.keys(":resu");
    let told = v.wait(1_000);
    assert!(told.contains("; the agent is notebook\n"), "{told}");
    v.b.carry_out();
    v.key(KeyCode::Enter);
    assert!(v.b.ui.prompt().is_none() && !v.all.ends_with("does it.\r\n"));
}

#[test]
fn a_question_that_another_key_closes_says_so() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(3_000);
    v.keys("q");
    assert!(v.keys("1").contains("not quit\n"), "{}", v.all);
}

#[test]
fn the_panes_have_one_order_in_the_help_the_guide_and_behind_tab() {
    let names = Pane::ORDER[1..].iter().map(|pane| pane.name());
    let order = names.collect::<Vec<_>>().join(", ");
    let said = words::plain::command(Command::NextPane);
    assert!(said.ends_with(&format!(": {order}")), "{said}");
    let guide = include_str!("../../../../assets/docs/guide.md");
    assert!(guide.contains(&format!("`Tab` reads out {order}, in this order")));
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.start();
    v.b.end(id, run("2\n"));
    v.wait(3_000);
    let mut heard = Vec::new();
    for _ in 0..8 {
        let said = v.key(KeyCode::Tab);
        let name = said.split(['\n', ',', '.']).next().unwrap_or_default();
        heard.push(name.to_owned());
    }
    let expected: Vec<&str> = Pane::ORDER[1..9].iter().map(|pane| pane.name()).collect();
    assert_eq!(heard, expected);
}

#[test]
fn nothing_of_an_agent_waits_but_of_its_namesake() {
    let v = Voice::of(Making::clear(CODE));
    let of = |pid: i32| crate::model::AgentId {
        uid: 1000,
        pid,
        name: "notebook".to_owned(),
        gateway: None,
    };
    let namesakes = |pid| of_namesakes(&v.b.state, &of(pid));
    assert_eq!((namesakes(4312), namesakes(99)), (0, 1));
    assert_eq!(
        words::nothing_but(1, "notebook", 99),
        "nothing of notebook (pid 99) waits, but 1 of another process waits"
    );
}

#[test]
fn a_row_of_the_log_says_for_how_long_it_was_looked_at() {
    let said = ["11:59:09", "ana", "1 h", "38 s", "41 ms"].map(str::to_owned);
    assert_eq!(
        words::plain::settled(said),
        ", decided 11:59:09 by ana after 1 h, looked at for 38 s, ran 41 ms"
    );
}
