//! `e`: the person's editor has the terminal, while the loop goes on serving agents, runs and deadlines. What comes
//! back is handed to the core like any other act of the person.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nix::unistd::Pid;
use similar::TextDiff;

use crate::broker::{Event, HumanAct};
use crate::clock::Now;
use crate::model::{Code, ProposalId};
use crate::tui::EditNews;
use crate::tui::terminal::Lent;

use super::super::Input;
use super::super::draft::{Draft, NotTaken};
use super::super::editor::{self, NoCommand};
use super::{Redraw, Shell};

/// How long the differences may be looked for; then all that is left counts as changed.
const COMPARING: Duration = Duration::from_millis(500);
/// Unchanged lines around a change.
const AROUND: usize = 3;

/// What the person has in hand.
#[derive(Default)]
pub enum Editing {
    #[default]
    Nothing,
    /// The editor has the terminal.
    Away { group: Pid, lent: Lent },
    /// `ssh-keygen` has the terminal, once it has a group.
    Signing {
        group: Arc<OnceLock<Pid>>,
        lent: Lent,
    },
    /// The core has the edit and has not recorded it yet.
    HandedIn {
        id: ProposalId,
        code: Code,
        draft: Draft,
    },
}

impl Editing {
    /// Whether the terminal is another program's.
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::Away { .. } | Self::Signing { .. })
    }
}

/// An editor that has ended.
pub struct Returned {
    id: ProposalId,
    draft: Draft,
    text: Result<Text, String>,
}

/// What the editor left.
enum Text {
    Same,
    Other { code: Code, diff: Arc<str> },
}

impl Shell {
    /// Lends the terminal to the person's editor.
    pub(super) fn edit(&mut self, id: ProposalId) {
        if let Err(news) = self.start_editor(id) {
            self.ui.tell_of_edit(&news);
            self.redraw = Redraw::Soon;
        }
    }

    fn start_editor(&mut self, id: ProposalId) -> Result<(), EditNews> {
        let failed = |e: &dyn std::fmt::Display| EditNews::NotStarted(e.to_string());
        // An earlier edit of another proposal may still be recorded.
        if !matches!(self.editing, Editing::Nothing) {
            return Err(EditNews::NotStarted(
                "another edit is still analysed".to_owned(),
            ));
        }
        let Some(entry) = self.works.state.entry(id) else {
            return Ok(());
        };
        let command = editor::command().map_err(|why| match why {
            NoCommand::NotSet => EditNews::NoEditor,
            NoCommand::BadQuotes => EditNews::BadCommand,
        })?;
        let (proposed, shown) = (entry.proposal.proposed.clone(), entry.code().clone());
        let most = self.works.state.code_bytes(&entry.proposal.profile);
        let title = entry.proposal.title.as_deref();
        let draft =
            Draft::new(&self.works.state_dir, id, title, shown.text()).map_err(|e| failed(&e))?;
        if !self.keyboard.rest() {
            draft.remove();
            return Err(EditNews::NotStarted("the keyboard is busy".to_owned()));
        }
        self.keyboard.flush();
        self.ui.lend(Now::read());
        let lent = self.terminal.lend();
        let group = match editor::start(&command, &draft.path()) {
            Ok(group) => group,
            Err(e) => {
                draft.remove();
                self.take_terminal_back(lent);
                return Err(failed(&e));
            }
        };
        lent.to(group);
        self.editing = Editing::Away { group, lent };
        let decided = self.works.hands.decided.clone();
        let waiting = std::thread::Builder::new().name("editor".to_owned());
        let waiting = waiting.spawn(move || {
            let ended = editor::wait(group);
            let text = ended.and_then(|()| {
                let text = draft.read(most);
                text.map(|text| compare(&proposed, &shown, text))
                    .map_err(|why: NotTaken| why.to_string())
            });
            // Once the loop is gone, the text stays in its file.
            let _ = decided.send(Input::Edited(Box::new(Returned { id, draft, text })));
        });
        if let Err(e) = waiting {
            // Without a thread nobody would hear of the editor's end.
            editor::end(group);
            if let Editing::Away { lent, .. } = std::mem::take(&mut self.editing) {
                self.take_terminal_back(lent);
            }
            return Err(failed(&e));
        }
        Ok(())
    }

    /// The editor has ended: the terminal is the dashboard's again, and the core gets what changed.
    pub(super) fn edited(&mut self, returned: Returned) {
        if let Editing::Away { lent, .. } = std::mem::take(&mut self.editing) {
            self.take_terminal_back(lent);
        }
        let Returned { id, draft, text } = returned;
        let news = match text {
            Ok(Text::Same) => {
                draft.remove();
                EditNews::Unchanged
            }
            Ok(Text::Other { code, diff }) => return self.hand_in(id, code, diff, draft),
            Err(why) => EditNews::NotTaken(why, self.left(draft, id)),
        };
        self.ui.tell_of_edit(&news);
    }

    /// Where the text of an edit that failed is left; an untouched one goes.
    fn left(&self, draft: Draft, id: ProposalId) -> Option<PathBuf> {
        let code = self.works.state.entry(id).map(|entry| entry.code().clone());
        let nothing = match (draft.read(code.as_ref().map_or(0, Code::bytes)), code) {
            (Ok(text), Some(code)) => *text == **code.text(),
            (Err(NotTaken::Gone | NotTaken::Empty), _) => true,
            _ => false,
        };
        match nothing {
            true => {
                draft.remove();
                None
            }
            false => Some(self.keep(&draft)),
        }
    }

    fn hand_in(&mut self, id: ProposalId, code: Code, diff: Arc<str>, draft: Draft) {
        if let Err(why) = self.works.state.editable(id, Now::read()) {
            let path = self.keep(&draft);
            let news = EditNews::TooLate(format!("too late: {why}"), path);
            return self.ui.tell_of_edit(&news);
        }
        self.ui.tell_of_edit(&EditNews::Taken);
        self.editing = Editing::HandedIn {
            id,
            code: code.clone(),
            draft,
        };
        let by = self.works.by.clone();
        self.core(Event::Human(HumanAct::Edit { id, code, diff, by }));
    }

    /// What became of the edit that the core has.
    pub(super) fn settle_edit(&mut self) {
        let Editing::HandedIn { id, .. } = &self.editing else {
            return;
        };
        let entry = self.works.state.entry(*id);
        if entry.is_some_and(|entry| entry.is_revising()) {
            return;
        }
        if let Editing::HandedIn { id, code, draft } = std::mem::take(&mut self.editing) {
            let entry = self.works.state.entry(id);
            if entry.is_some_and(|entry| *entry.code() == code) {
                return draft.remove();
            }
            let why = entry.map_or("it is gone".to_owned(), |entry| match entry.state() {
                state if state.is_final() => format!("too late: already {state}"),
                _ => "your edit could not be recorded".to_owned(),
            });
            let news = EditNews::TooLate(why, self.keep(&draft));
            self.ui.tell_of_edit(&news);
            self.redraw = Redraw::Soon;
        }
    }

    /// The dashboard closes: the editor ends, and its file stays.
    pub(super) fn end_editor(&mut self) {
        if matches!(self.editing, Editing::Signing { .. }) {
            return self.end_signing();
        }
        if let Editing::Away { group, lent } = std::mem::take(&mut self.editing) {
            editor::end(group);
            lent.back();
        }
    }

    /// The file's folder below the state folder, which fits a notice. The local log has the whole path: a notice goes
    /// with the next key.
    fn keep(&self, draft: &Draft) -> PathBuf {
        let path = draft.path();
        tracing::info!("an edit was not taken; its text is in {}", path.display());
        let folder = path.parent().unwrap_or(&path);
        let below = folder.strip_prefix(&self.works.state_dir);
        below.unwrap_or(folder).to_owned()
    }

    pub(super) fn take_terminal_back(&mut self, lent: Lent) {
        self.terminal.take_back(lent);
        self.interrupted();
        self.keyboard.go_on();
        // The window may have another size, and the event must not come with the next key.
        self.keyboard.resized();
        self.ui.take_back(Now::read());
        self.stuck = false;
        self.drawn_at = None;
        self.redraw = Redraw::Soon;
    }
}

fn compare(proposed: &Code, shown: &Code, text: String) -> Text {
    // Some editors end the last line although nobody typed.
    let ended = |code: &Code| text.strip_suffix('\n') == Some(&**code.text());
    if *text == **shown.text() || ended(shown) {
        return Text::Same;
    }
    let code = match ended(proposed) {
        true => proposed.clone(),
        false => Code::new(text),
    };
    let diff = TextDiff::configure()
        .timeout(COMPARING)
        .diff_lines(&**proposed.text(), &**code.text())
        .unified_diff()
        .context_radius(AROUND)
        .header("proposed", "granted")
        .to_string();
    Text::Other {
        code,
        diff: diff.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(text: Text) -> Option<(String, String)> {
        match text {
            Text::Same => None,
            Text::Other { code, diff } => Some((code.text().to_string(), diff.to_string())),
        }
    }

    #[test]
    fn the_diff_is_from_what_was_proposed_whatever_was_shown() {
        let (proposed, shown) = (Code::new("a\nb\n"), Code::new("a\nc\n"));
        let (code, diff) = other(compare(&proposed, &shown, "a\nd\n".to_owned())).unwrap();
        assert_eq!(code, "a\nd\n");
        assert_eq!(
            diff,
            "--- proposed\n+++ granted\n@@ -1,2 +1,2 @@\n a\n-b\n+d\n"
        );
    }

    #[test]
    fn a_line_end_that_an_editor_added_is_no_edit() {
        let (proposed, shown) = (Code::new("a"), Code::new("b"));
        assert_eq!(other(compare(&proposed, &proposed, "a\n".to_owned())), None);
        assert_eq!(other(compare(&proposed, &shown, "b".to_owned())), None);
        let (code, _) = other(compare(&proposed, &shown, "a\n".to_owned())).unwrap();
        assert_eq!(code, "a", "restored to the byte");
    }
}
