//! The dashboard: a pure projection of the broker's state, and keys turned into actions.
//!
//! `render` draws the core's state and the screen's own [`UiState`]. It reports what it drew back
//! ([`UiState::drawn`]), because only what was drawn can be granted. Nothing here touches a socket,
//! the audit writer or the executor; only `terminal` and its `outlet` write to the terminal, and
//! only `keyboard` reads from it.

mod action;
mod answers;
mod as_drawn;
mod brought;
mod calls;
mod canvas;
pub mod caps;
mod charset;
mod claim;
mod condense;
mod diff;
mod document;
mod dossier;
mod flow;
mod glass;
mod glossary;
mod gutter;
mod highlight;
mod interval;
pub mod keyboard;
mod keys;
mod novelty;
mod outlet;
mod pixels;
mod plain;
mod printed;
mod program;
mod queries;
mod review;
mod screen;
mod seat_news;
mod shown;
mod sketch;
pub mod terminal;
pub mod text;
mod theme;
mod transcript;
mod ui;
mod words;

#[cfg(test)]
mod agents_tests;
#[cfg(test)]
mod as_drawn_tests;
#[cfg(test)]
mod ascii_tests;
#[cfg(test)]
mod asked_tests;
#[cfg(test)]
mod asking_tests;
#[cfg(test)]
mod bench;
#[cfg(test)]
mod claims_tests;
#[cfg(test)]
mod colour_tests;
#[cfg(test)]
mod compare_tests;
#[cfg(test)]
mod contrast_tests;
#[cfg(test)]
mod data_tests;
#[cfg(test)]
mod doubt_tests;
#[cfg(test)]
mod drill_tests;
#[cfg(test)]
mod edit_tests;
#[cfg(test)]
mod effects_tests;
#[cfg(test)]
mod environment_tests;
#[cfg(test)]
mod few_rows_tests;
#[cfg(test)]
mod files_tests;
#[cfg(test)]
mod filter_tests;
#[cfg(test)]
mod fold_tests;
#[cfg(test)]
mod glass_tests;
#[cfg(test)]
mod groups_tests;
#[cfg(test)]
mod gutter_tests;
#[cfg(test)]
mod idle_tests;
#[cfg(test)]
mod long_tests;
#[cfg(test)]
mod made;
#[cfg(test)]
mod mouse_tests;
#[cfg(test)]
mod moves_tests;
#[cfg(test)]
mod news_tests;
#[cfg(test)]
mod notice_tests;
#[cfg(test)]
mod output_tests;
#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod pane_tests;
#[cfg(test)]
mod pausing_tests;
#[cfg(test)]
mod picker_tests;
#[cfg(test)]
mod quiet_tests;
#[cfg(test)]
mod readers_tests;
#[cfg(test)]
mod review_tests;
#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod seat_news_tests;
#[cfg(test)]
mod seat_tests;
#[cfg(test)]
mod secrets_tests;
#[cfg(test)]
mod seen_tests;
#[cfg(test)]
mod snapshot_tests;
#[cfg(test)]
mod stray_tests;
#[cfg(test)]
mod sums_tests;
#[cfg(test)]
mod vigilance_tests;
#[cfg(test)]
mod votes_tests;

pub use action::{
    Action, AuditPage, AuditRow, Comparison, EditNews, ExportAs, ExportGoes, Exporting, Followed,
    GrantRequest, Header, LogCheck, Saving, Seated, Sum, Summed, Sums,
};
pub use calls::Calls;
pub use caps::{Background, Depth, TerminalCaps};
pub use charset::Charset;
pub use diff::Diff;
pub use document::{Search, Searcher};
pub use dossier::Dossier;
pub use highlight::{Highlighter, Highlights};
pub use keys::{Command, Keymap, KeymapError};
pub use plain::Plain;
pub use program::{Reviewed, Vouched};
pub use review::{Reading, Review};
pub use screen::{Drawn, copied, render};
pub use theme::{Role, Theme, ThemeError, Themes};
pub use ui::{DWELL, GRACE, HELD, QUIET, SHEET_GRACE, Span, UiState};
