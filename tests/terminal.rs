//! The terminal is given back, whatever happens: panic, suspend.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::Read as _;

use common::dash::Dash;
use nix::sys::signal::Signal;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::json;

/// Set in the process that is to panic with the terminal taken over.
const CHILD: &str = "CS_TEST_PANIC_CHILD";

#[test]
fn a_panic_gives_the_terminal_back_before_its_message() {
    if std::env::var_os(CHILD).is_some() {
        let mut terminal = countersign::tui::terminal::Terminal::enter().unwrap();
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
        "a_panic_gives_the_terminal_back_before_its_message",
        "--nocapture",
    ]);
    command.env(CHILD, "1");
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut output = Vec::new();
    // The other end's last close reads as an error on Linux; what came before is kept.
    let _ = reader.read_to_end(&mut output);
    assert!(!child.wait().unwrap().success());
    let text = String::from_utf8_lossy(&output);
    let entered = text
        .find("\x1b[?1049h")
        .expect("the alternate screen was entered");
    let left = text
        .find("\x1b[?1049l")
        .expect("the alternate screen was left");
    let message = text
        .find("the message of the panic")
        .expect("the panic is reported");
    assert!(entered < left && left < message, "{text:?}");
    for off in ["\x1b[?2004l", "\x1b[?1004l", "\x1b[?25h"] {
        assert!(
            text[left.saturating_sub(200)..].contains(off),
            "{off:?} missing in {text:?}"
        );
    }
}

#[test]
fn suspending_gives_the_terminal_back_and_what_is_typed_meanwhile_grants_nothing() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print(1)\n");
    dash.open_sheet();
    dash.signal(Signal::SIGTSTP);
    dash.wait_for("the stop", |d, _| stopped(d.pid()) && !d.alternate_screen());
    dash.keys("yyyy");
    dash.signal(Signal::SIGCONT);
    dash.wait_for("the screen", |d, text| {
        d.alternate_screen() && text.contains("print(1)")
    });
    assert_eq!(agent.state(&proposal["id"]), "pending");
    agent.call("withdraw", json!({"id": proposal["id"]}));
}

fn stopped(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| rest.starts_with(" T"))
    })
}
