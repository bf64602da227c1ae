//! The peer: a loop of ratatui and crossterm that draws a list and a text beside it, and nothing else.

use std::io::{Read as _, Write as _, stdout};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use crossterm::event::{Event, KeyCode, read};
use crossterm::execute;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, enable_raw_mode,
};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Constraint, Layout};
use ratatui::widgets::{Block, List, ListState, Paragraph};

use super::common::dash::Frames;

/// Draws `rows` rows and moves in them, from the last one on, until `q`.
pub fn draw(rows: usize) {
    let items: Vec<String> = (0..rows)
        .map(|n| format!("  {:>5} agent-{} Proposal {n}", n % 60, n % 7))
        .collect();
    let mut terminal = Terminal::new(CrosstermBackend::new(stdout())).unwrap();
    enable_raw_mode().unwrap();
    execute!(stdout(), EnterAlternateScreen).unwrap();
    let mut state = ListState::default().with_selected(Some(rows - 1));
    loop {
        execute!(stdout(), BeginSynchronizedUpdate).unwrap();
        terminal
            .draw(|frame| {
                let [left, right] =
                    Layout::horizontal([Constraint::Length(37), Constraint::Fill(1)])
                        .areas(frame.area());
                let list = List::new(items.iter().map(String::as_str)).highlight_symbol("▸");
                frame.render_stateful_widget(list.block(Block::bordered()), left, &mut state);
                let chosen = state.selected().unwrap_or(0);
                let text: String = (0..30)
                    .map(|n| format!("x_{n} = {}\n", chosen + n))
                    .collect();
                frame.render_widget(Paragraph::new(text).block(Block::bordered()), right);
            })
            .unwrap();
        execute!(stdout(), EndSynchronizedUpdate).unwrap();
        stdout().flush().unwrap();
        if let Event::Key(key) = read().unwrap() {
            match key.code {
                KeyCode::Char('j') => state.select_next(),
                KeyCode::Char('k') => state.select_previous(),
                _ => return,
            }
        }
    }
}

/// Seconds from a key to the frame after it, in a terminal like the dashboard's.
pub fn measure(rows: usize, samples: usize) -> Vec<f64> {
    let (columns, lines) = super::SIZE;
    let size = PtySize {
        rows: lines,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["bare", &rows.to_string()]);
    command.env("TERM", "xterm-256color");
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let shared = Arc::new((Mutex::new(Frames::default()), Condvar::new()));
    let mut reader = pair.master.try_clone_reader().unwrap();
    let frames = shared.clone();
    let reading = std::thread::spawn(move || {
        let (mut raw, mut buffer) = (Vec::new(), [0; 8192]);
        while let Ok(n @ 1..) = reader.read(&mut buffer) {
            raw.extend_from_slice(&buffer[..n]);
            frames.0.lock().unwrap().search(&raw);
            frames.1.notify_all();
        }
    });
    let wait = |known: usize| {
        let guard = shared.0.lock().unwrap();
        let guard = shared.1.wait_while(guard, |f| f.count() <= known).unwrap();
        guard.at()
    };
    wait(0);
    let mut writer = pair.master.take_writer().unwrap();
    let mut times = Vec::new();
    for n in 0..samples {
        let known = shared.0.lock().unwrap().count();
        let begun = Instant::now();
        writer.write_all(super::key(n).as_bytes()).unwrap();
        writer.flush().unwrap();
        times.push(wait(known).duration_since(begun).as_secs_f64());
        std::thread::sleep(super::PAUSE);
    }
    writer.write_all(b"q").unwrap();
    child.wait().unwrap();
    drop((writer, pair.master));
    reading.join().unwrap();
    times
}
