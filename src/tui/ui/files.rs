//! The files of the selected run: opening one outside, saving all, copying what a pane shows.

use tui_input::Input;

use crate::broker::BrokerState;
use crate::model::{Artifact, ProposalId, file_name};

use super::super::action::{Action, Saving};
use super::super::words;
use super::{Notice, Over, Prompt, UiState};

/// Where files are offered to be saved at first.
const HOME: &str = "~/";

impl UiState {
    /// The files of the selected run, once they are in the log.
    fn files<'s>(&self, state: &'s BrokerState) -> Result<(ProposalId, &'s [Artifact]), Notice> {
        let entry = self.entry(state).ok_or(Notice::NothingSelected)?;
        let run = entry.run().filter(|_| entry.is_recorded());
        match run {
            Some(run) if !run.artifacts.is_empty() => {
                Ok((entry.proposal.id, run.artifacts.as_slice()))
            }
            Some(run) if run.artifacts_withheld > 0 => {
                Err(words::files_gone(run.artifacts_withheld).into())
            }
            Some(_) => Err(words::LEFT_NO_FILE.into()),
            _ => Err(words::NO_FILES.into()),
        }
    }

    /// `o`: opens the run's only file, or asks which.
    pub(super) fn ask_open(&mut self, state: &BrokerState) -> Vec<Action> {
        match self.files(state) {
            Ok((_, [file])) => return vec![Action::Open(file.clone())],
            Ok((of, _)) => {
                let input = Input::new("1".to_owned());
                self.over = Over::Prompt(Prompt::Open { of, input });
            }
            Err(notice) => self.remarks.notice = Some(notice),
        }
        Vec::new()
    }

    /// `S`: asks for the folder.
    pub(super) fn ask_save(&mut self, state: &BrokerState) {
        match self.files(state) {
            Ok((of, files)) => {
                if let Some(why) = unsavable(files) {
                    self.remarks.notice = Some(words::nothing_to_save(why).into());
                    return;
                }
                let folder = match self.common.saved_to.is_empty() {
                    true => HOME.to_owned(),
                    false => self.common.saved_to.clone(),
                };
                let input = Input::new(folder);
                self.over = Over::Prompt(Prompt::Save { of, input });
            }
            Err(notice) => self.remarks.notice = Some(notice),
        }
    }

    /// Takes in which file to open: its number, or its name.
    pub(super) fn send_open(
        &mut self,
        state: &BrokerState,
        of: ProposalId,
        typed: &str,
    ) -> Vec<Action> {
        let run = state.entry(of).and_then(|entry| entry.run());
        let files = run.map_or(&[][..], |run| run.artifacts.as_slice());
        let numbered = typed
            .parse::<usize>()
            .ok()
            .and_then(|n| files.get(n.checked_sub(1)?));
        let named = || files.iter().find(|file| file.name == typed);
        match numbered.or_else(named) {
            Some(file) => vec![Action::Open(file.clone())],
            None => {
                self.remarks.notice = Some(words::no_such_file(files.len()).into());
                Vec::new()
            }
        }
    }

    pub(super) fn send_save(
        &mut self,
        state: &BrokerState,
        of: ProposalId,
        folder: &str,
    ) -> Vec<Action> {
        let entry = state.entry(of);
        let Some((entry, run)) = entry.and_then(|entry| Some((entry, entry.run()?))) else {
            self.remarks.notice = Some(words::GONE.into());
            return Vec::new();
        };
        self.common.saved_to = folder.to_owned();
        vec![Action::Save(Saving {
            files: run.artifacts.clone(),
            folder: folder.to_owned(),
            own: file_name::folder_for(entry.proposal.title.as_deref(), of),
        })]
    }

    /// Says what became of a request that was carried out elsewhere.
    pub fn tell(&mut self, words: String) {
        self.remarks.notice = Some(words.into());
    }
}

/// Why none of the files would be saved.
fn unsavable(files: &[Artifact]) -> Option<&'static str> {
    let mut each = files
        .iter()
        .map(|file| file_name::may_be_saved(&file.name).err());
    let first = each.next()??;
    each.all(|why| why.is_some()).then_some(first)
}
