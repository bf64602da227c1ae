//! The terminal is restored whatever happens: panic, suspend. Input that it sends by itself, or
//! while nobody looks, grants nothing; and when it is closed, everything that waits ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::io::Read as _;
use std::time::Duration;

use common::agent::Agent;
use common::dash::{Dash, Options, PATIENCE};
use nix::sys::signal::Signal;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};

/// Set in the process that panics while it controls the terminal.
const CHILD: &str = "CS_TEST_PANIC_CHILD";

#[test]
fn a_panic_gives_the_terminal_back_before_its_message() {
    if std::env::var_os(CHILD).is_some() {
        let mut terminal = {
            let calls = countersign::tui::Calls::detect(&std::env::vars().collect(), true);
            countersign::tui::terminal::Terminal::enter(
                calls,
                countersign::tui::Charset::Utf8,
                false,
            )
            .unwrap()
        };
        terminal
            .draw(|_, _| countersign::tui::Drawn::default())
            .unwrap();
        panic!("the message of the panic");
    }
    let size = PtySize {
        rows: 24,
        cols: 80,
        pixel_width: 0,
        pixel_height: 0,
    };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "terminal::a_panic_gives_the_terminal_back_before_its_message",
        "--nocapture",
    ]);
    command.env(CHILD, "1");
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut output = Vec::new();
    // On Linux the last close of the other end reads as an error; earlier output is kept.
    let _ = reader.read_to_end(&mut output);
    assert!(!child.wait().unwrap().success());
    let text = String::from_utf8_lossy(&output);
    let enters = text
        .find("\x1b[?1049h")
        .expect("the alternate screen was entered");
    let leaves = text
        .find("\x1b[?1049l")
        .expect("the alternate screen was left");
    let message = text
        .find("the message of the panic")
        .expect("the panic is reported");
    assert!(enters < leaves && leaves < message, "{text:?}");
    for off in ["\x1b[?2004l", "\x1b[?1004l", "\x1b[?25h"] {
        assert!(
            text[leaves.saturating_sub(200)..].contains(off),
            "{off:?} missing in {text:?}"
        );
    }
}

#[test]
fn suspending_gives_the_terminal_back_and_keys_typed_meanwhile_grant_nothing() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print(1)\n");
    dash.open_sheet();
    dash.signal(Signal::SIGTSTP);
    dash.wait_for("the stop", |d, _| {
        is_stopped(d.pid()) && !d.alternate_screen()
    });
    dash.keys("yyyy");
    dash.signal(Signal::SIGCONT);
    dash.wait_for("the screen", |d, text| {
        d.alternate_screen() && text.contains("print(1)")
    });
    assert_eq!(agent.state(&proposal["id"]), "pending");
    agent.call("withdraw", json!({"id": proposal["id"]}));
}

/// Opens a sheet with everything seen, its grace period over and no key just pressed.
fn open_sheet(dash: &mut Dash) -> (Agent, Value) {
    let mut agent = dash.agent();
    let proposal = agent.code("print(1)\n");
    dash.open_sheet();
    dash.wait_text("press y to grant");
    (agent, proposal)
}

/// Asserts that all keys typed so far were processed and did not grant.
fn assert_nothing_granted(dash: &mut Dash, agent: &mut Agent, proposal: &Value) {
    dash.press_until("\x1b", "the queue", |text| !text.contains("GRANT?"));
    assert_eq!(agent.state(&proposal["id"]), "pending");
}

#[test]
fn a_key_held_since_before_the_sheet_accepted_it_grants_nothing() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print(1)\n");
    dash.open_sheet();
    // Keyboards repeat a held key after half a second, then thirty times a second.
    dash.keys("y");
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..45 {
        dash.keys("y");
        std::thread::sleep(Duration::from_millis(33));
    }
    assert_nothing_granted(&mut dash, &mut agent, &proposal);
    dash.grant(&mut agent, &proposal);
}

#[test]
fn text_that_ends_its_own_paste_on_the_sheet_grants_nothing() {
    let mut dash = Dash::start();
    let (mut agent, proposal) = open_sheet(&mut dash);
    dash.keys("\x1b[200~hello \x1b[201~y\x1b[201~");
    assert_nothing_granted(&mut dash, &mut agent, &proposal);
}

#[test]
fn a_burst_in_one_write_grants_nothing() {
    let mut dash = Dash::start();
    let (mut agent, proposal) = open_sheet(&mut dash);
    assert_nothing_granted(&mut dash, &mut agent, &proposal);
    std::thread::sleep(Duration::from_millis(700));
    dash.keys(&format!("a{}y", "j".repeat(4_000)));
    assert_nothing_granted(&mut dash, &mut agent, &proposal);
    dash.grant(&mut agent, &proposal);
}

#[test]
fn keys_typed_while_the_program_was_stopped_grant_nothing() {
    let mut dash = Dash::start();
    let (mut agent, proposal) = open_sheet(&mut dash);
    dash.signal(Signal::SIGSTOP);
    dash.wait_for("the stop", |d, _| is_stopped(d.pid()));
    dash.keys("y");
    std::thread::sleep(Duration::from_millis(600));
    dash.signal(Signal::SIGCONT);
    assert_nothing_granted(&mut dash, &mut agent, &proposal);
    dash.grant(&mut agent, &proposal);
}

/// `kill -STOP` from elsewhere, then `fg`: meanwhile the shell had the terminal and set its modes.
#[test]
fn a_program_that_was_stopped_takes_the_terminal_again() {
    let mut dash = Dash::start();
    let (mut agent, proposal) = open_sheet(&mut dash);
    dash.signal(Signal::SIGSTOP);
    dash.wait_for("the stop", |d, _| is_stopped(d.pid()));
    dash.cook();
    dash.signal(Signal::SIGCONT);
    dash.wait_for("the modes", |d, _| !d.is_cooked());
    assert_nothing_granted(&mut dash, &mut agent, &proposal);
    dash.grant(&mut agent, &proposal);
}

#[test]
fn a_terminal_without_the_focus_grants_nothing() {
    let mut dash = Dash::start();
    let (mut agent, proposal) = open_sheet(&mut dash);
    dash.keys("\x1b[O");
    dash.press_until("y", "the refusal", |text| text.contains("focus"));
    assert_nothing_granted(&mut dash, &mut agent, &proposal);
    dash.press_until("a", "the refusal", |text| text.contains("focus"));
    assert!(!dash.text().contains("GRANT?"));
    dash.keys("\x1b[I");
    dash.grant(&mut agent, &proposal);
}

#[test]
fn a_terminal_that_vanishes_leaves_every_outcome_in_the_log() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let running = agent.code("print('be' + 'gun', flush=True)\nwhile True:\n    pass\n");
    dash.grant(&mut agent, &running);
    dash.wait_text("begun");
    let pending = agent.code("print('pending')\n");
    let wait = agent.send("wait", json!({"id": pending["id"]}));
    let of_running = agent.send("wait", json!({"id": running["id"]}));
    // Requests of a connection are handled in order: this answer means that both `wait`s were
    // received.
    assert_eq!(agent.state(&pending["id"]), "pending");
    dash.hang_up();
    let outcome = agent.answer(wait, PATIENCE)["result"].clone();
    assert_eq!(outcome["state"], "unattended", "{outcome}");
    let outcome = agent.answer(of_running, PATIENCE)["result"].clone();
    assert_eq!(outcome["state"], "failed", "{outcome}");
    dash.wait_exit();
    assert!(!dash.socket.exists(), "the socket is gone");
    let verify = dash.cli(&["audit", "verify"]);
    assert!(verify.status.success(), "{verify:?}");
    let list = String::from_utf8(dash.cli(&["audit", "list"]).stdout).unwrap();
    assert!(
        list.contains("unattended") && list.contains("failed"),
        "{list}"
    );
    let log = dash.log_text();
    assert!(log.contains("\"kind\":\"closed\""), "{log}");
}

/// Types these keys until the dashboard has noticed this many times that its terminal is stuck.
fn await_stuck(dash: &mut Dash, times: usize, keys: &str) {
    let limit = std::time::Instant::now() + PATIENCE;
    while dash
        .local_log()
        .matches("the terminal shows nothing")
        .count()
        < times
    {
        assert!(
            std::time::Instant::now() < limit,
            "the dashboard still shows frames"
        );
        dash.keys(keys);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_terminal_that_sends_no_reports_can_grant() {
    let mut dash = Dash::with(&Options {
        answers: false,
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.code("print(6 * 7)\n");
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["run"]["stdout"], "42\n");
}

#[test]
fn a_paste_without_brackets_grants_nothing() {
    let mut dash = Dash::start();
    let (mut agent, proposal) = open_sheet(&mut dash);
    for pasted in ["yes please\n", "y\n", "yy", "y\x1b[200~"] {
        dash.keys(pasted);
        std::thread::sleep(Duration::from_millis(700));
        assert_eq!(agent.state(&proposal["id"]), "pending", "{pasted:?}");
    }
    dash.keys("\x1b[201~");
    assert_nothing_granted(&mut dash, &mut agent, &proposal);
    dash.grant(&mut agent, &proposal);
}

/// A write to such a terminal blocks forever; nothing else may block with it.
#[test]
fn a_terminal_that_reads_nothing_holds_up_no_deadline_and_no_end_and_grants_nothing() {
    let mut dash = Dash::start();
    let (mut agent, open) = open_sheet(&mut dash);
    dash.pause_reading(true);
    // The kernel's buffer still accepts frames that nobody sees.
    await_stuck(&mut dash, 1, "");
    dash.keys("y");
    // Deadlines and answers to agents are not delayed.
    let short = agent.call(
        "propose",
        json!({"title": "short", "code": "print(2)\n", "ttl_s": 5}),
    );
    let short = &short["result"]["id"];
    let outcome = agent.outcome(short);
    assert_eq!(outcome["state"], "expired", "{outcome}");
    dash.keys("y");
    dash.pause_reading(false);
    dash.wait_for("the sheet's end", |_, text| {
        !text.contains("GRANT?") && text.contains("print(1)")
    });
    assert_eq!(agent.state(&open["id"]), "pending");
    dash.open_sheet();
    assert_nothing_granted(&mut dash, &mut agent, &open);

    dash.pause_reading(true);
    // Draws frames until that buffer is full, too.
    await_stuck(&mut dash, 2, "\x0c");
    for _ in 0..50 {
        dash.keys("\x0c");
        std::thread::sleep(Duration::from_millis(20));
    }
    dash.signal(Signal::SIGTERM);
    assert_eq!(agent.outcome(&open["id"])["state"], "unattended");
    dash.wait_for("the end", |d, _| {
        d.log_text().contains("\"kind\":\"closed\"")
    });
    dash.wait_for("no process", |d, _| !d.socket.exists());
}

#[test]
fn a_window_of_another_size_is_filled_at_once_and_costs_no_key() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    agent.code("print(1)\n");
    dash.wait_text("print(1)");
    // The event source reports sizes only after its first key.
    dash.keys("?");
    dash.wait_text("quit");
    dash.keys("?");
    // A resize drops the keys that were not read yet.
    dash.wait_text("print(1)");
    for (columns, rows) in [(80, 24), (100, 30), (120, 40)] {
        dash.resize(columns, rows);
        // No key is pressed here.
        dash.wait_for("the new size", |_, text| {
            let lines: Vec<&str> = text.lines().collect();
            lines.len() == usize::from(rows) && lines[lines.len() - 1].contains("? help")
        });
        dash.keys("?");
        dash.wait_for("the help", |_, text| !text.contains("print(1)"));
        dash.keys("?");
        dash.wait_text("print(1)");
    }
}

/// Includes SIGQUIT, which `kill -QUIT` and some supervisors send.
#[test]
fn every_signal_that_asks_for_the_end_leaves_a_closing_record() {
    for signal in [
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGINT,
        Signal::SIGQUIT,
    ] {
        let mut dash = Dash::start();
        dash.wait_text("log ✓");
        dash.signal(signal);
        dash.wait_exit();
        let log = dash.log_text();
        assert!(log.contains("\"kind\":\"closed\""), "{signal}: {log}");
    }
}

#[test]
fn a_window_of_any_size_is_drawn_as_far_as_anybody_could_see_it() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    agent.code("print(1)\n");
    dash.wait_text("print(1)");
    dash.claim(u16::MAX, u16::MAX);
    dash.signal(Signal::SIGWINCH);
    dash.keys("\x0c");
    dash.wait_for("a frame of that size", |d, _| {
        let raw = d.raw();
        let last = raw.len().saturating_sub(400_000);
        String::from_utf8_lossy(&raw[last..]).contains("\x1b[500;")
    });
    dash.claim(120, 40);
    dash.signal(Signal::SIGWINCH);
    dash.keys("\x0c");
    dash.wait_text("print(1)");
}

#[test]
fn an_answer_of_the_terminal_that_comes_late_is_no_key() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    agent.code("print(1)\n");
    dash.wait_text("? help");
    // As keys these would open the palette, the deny prompt, the search and other screens.
    for answer in [
        "\x1b]11;rgb:d1d1/a2a2/3b3b\x1b\\",
        "\x1b]11;rgb:3333/dada/a2a2\x07",
        "\x1bP1$r0;2 q\x1b\\",
        "\x1b]7501;?\x1b\\",
    ] {
        dash.keys(answer);
        std::thread::sleep(Duration::from_millis(300));
        let text = dash.text();
        assert!(
            text.contains("print(1)") && text.contains("? help"),
            "{answer:?}\n{text}"
        );
    }
    dash.press("?");
    dash.wait_text("HELP");
}

#[test]
fn a_terminal_that_takes_reports_is_told_what_waits_and_others_are_not() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let raw = |dash: &Dash| String::from_utf8_lossy(&dash.raw()).into_owned();
    let blocked = "\x1b]7501;state=blocked:kind=permission:app=countersign\x1b\\";
    agent.code("print(1)\n");
    dash.wait_text("print(1)");
    assert!(raw(&dash).contains("\x1b]7501;?\x1b\\") && !raw(&dash).contains("state="));
    dash.keys("\x1b]7501;?\x1b\\");
    dash.wait_for("the report", |d, _| raw(d).contains(blocked));
    dash.press("q");
    dash.press("y");
    dash.wait_exit();
    dash.wait_for("the end of the report", |d, _| {
        raw(d).contains("\x1b]7501;state=clear\x1b\\")
    });
}

#[test]
fn without_the_bell_no_report_is_asked_for() {
    let dash = Dash::with(&Options {
        config: "[notify]\nbell = false\n",
        ..Options::default()
    });
    dash.wait_text("log ✓");
    let raw = String::from_utf8_lossy(&dash.raw()).into_owned();
    assert!(!raw.contains("7501") && !raw.contains("\x1b]2;"));
}

#[test]
fn the_mouse_is_heard_only_if_asked_for() {
    let raw = |dash: &Dash| String::from_utf8_lossy(&dash.raw()).into_owned();
    let dash = Dash::start();
    dash.wait_text("log ✓");
    assert!(!raw(&dash).contains("\x1b[?1000h"));
    let mut dash = Dash::with(&Options {
        config: "mouse = true\n",
        ..Options::default()
    });
    dash.wait_text("log ✓");
    assert!(raw(&dash).contains("\x1b[?1000h"));
    dash.press("q");
    dash.wait_exit();
    dash.wait_for("no mouse", |d, _| raw(d).contains("\x1b[?1000l"));
}

#[test]
fn a_terminal_without_utf_8_gets_ascii_only() {
    let mut dash = Dash::with(&Options {
        env: &[("LANG", "C")],
        ..Options::default()
    });
    let mut agent = dash.agent();
    agent.code("print('Û2J ▲')\n");
    dash.wait_text("print('\\u{00DB}2J \\u{25B2}')");
    for key in ["?", "\x1b", "2", "3", "1"] {
        dash.press(key);
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(dash.raw().is_ascii());
}

#[test]
fn a_quit_says_what_happened_and_where_the_log_is() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    agent.code("print(1)\n");
    dash.wait_text("print(1)");
    dash.press("d");
    dash.press("\r");
    dash.wait_for("nothing pending", |_, text| text.contains("0 pending"));
    dash.press("q");
    dash.wait_exit();
    let text = dash.wait_text("Its log:");
    assert!(text.contains(": 1 denied."), "{text}");
}

fn is_stopped(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| rest.starts_with(" T"))
    })
}
