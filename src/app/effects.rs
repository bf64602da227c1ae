//! The only interpreter of [`Effect`].

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use crate::audit::WriterHandle;
use crate::audit::kept::Keeper;
use crate::broker::{Effect, Event, ExecNote, Grant, Reply};
use crate::executor::{Control, Executor};
use crate::ipc::Router;
use crate::model::{KeptRun, ProposalId};
use crate::runtime::Measured;

use super::Input;
use super::analyst::Analyst;
use super::environment::Watch;
use super::inputs::Inputs;
use super::voters;

/// Everything that carrying out an effect needs.
pub struct Hands {
    pub inbox: UnboundedSender<Input>,
    /// For the consequences of a person's decisions; the loop reads this inbox first.
    pub decided: UnboundedSender<Input>,
    pub outbox: Router,
    pub analyst: Analyst,
    pub inputs: Inputs,
    pub log: WriterHandle,
    /// Keeps the code of succeeded runs as files, if the configuration says so.
    pub keeper: Option<Keeper>,
    pub executor: Executor,
    pub python: Option<Arc<Measured>>,
    pub environment: Watch,
    /// Set if people vote here. Without it the core asks for nothing of the kind.
    pub desk: Option<voters::Hands>,
    /// Runs that were started and have not ended.
    pub controls: HashMap<ProposalId, Control>,
}

/// What the loop does after an effect was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Continue,
    /// Ring the bell if nobody is looking.
    Attention,
    Exit,
}

impl Hands {
    pub fn carry_out(&mut self, effect: Effect) -> Next {
        match effect {
            Effect::Reply { conn, call, reply } => self.outbox.reply(conn, call, reply),
            Effect::Notify { conn, note } => self.outbox.notify(conn, &note),
            Effect::Analyse {
                job,
                desk,
                code,
                profile,
                policy,
                setting,
            } => self
                .analyst
                .analyse(job, desk, code, profile, policy, setting),
            Effect::BindInputs {
                id,
                inputs,
                artifacts,
            } => {
                let (reader, inbox) = (self.inputs.clone(), self.inbox.clone());
                tokio::spawn(async move {
                    let inputs = reader.bind(inputs, artifacts).await;
                    let _ = inbox.send(Input::Core(Event::InputsBound { id, inputs }));
                });
            }
            Effect::DescribeDatasets { conn, call } => {
                let (reader, outbox) = (self.inputs.clone(), self.outbox.clone());
                tokio::spawn(async move {
                    outbox.reply(conn, call, Ok(Reply::Datasets(reader.describe().await)));
                });
            }
            Effect::ReadArtifact {
                conn,
                call,
                artifact,
                offset,
            } => {
                let (reader, outbox) = (self.inputs.clone(), self.outbox.clone());
                tokio::spawn(async move {
                    outbox.reply(conn, call, reader.part(artifact, offset).await);
                });
            }
            Effect::Record {
                ticket,
                lane,
                event,
                blobs,
            } => self.log.submit_in(lane, ticket, *event, blobs),
            Effect::Execute(grant) => self.execute(*grant),
            Effect::Sign { id, version, vote } => {
                if let Some(desk) = &self.desk {
                    desk.sign(id, version, vote);
                }
            }
            Effect::Publish(publication) => {
                if let Some(desk) = &self.desk {
                    desk.publish(publication);
                }
            }
            Effect::Notice(notice) => {
                if let Some(desk) = &self.desk {
                    desk.notify(notice);
                }
            }
            Effect::SendVote {
                host,
                id,
                version,
                vote,
            } => {
                if let Some(desk) = &self.desk {
                    desk.send(host, id, version, *vote);
                }
            }
            Effect::LookAgain { id } => {
                if let Some(desk) = &self.desk {
                    desk.look_again(id);
                }
            }
            Effect::Release { id } => {
                if let Some(control) = self.controls.get(&id) {
                    control.release();
                }
            }
            Effect::Kill { id } => {
                if let Some(control) = self.controls.get(&id) {
                    control.kill();
                }
            }
            Effect::Keep(run) => self.keep(*run),
            Effect::Attention => return Next::Attention,
            Effect::Exit => return Next::Exit,
        }
        Next::Continue
    }

    /// Off the loop: a slow disk must not block the screen. The log has the code in any case.
    fn keep(&self, run: KeptRun) {
        let Some(keeper) = self.keeper.clone() else {
            return;
        };
        tokio::task::spawn_blocking(move || {
            if let Err(e) = keeper.keep(&run) {
                tracing::warn!("the code of {} was not kept as a file: {e}", run.id);
            }
        });
    }

    fn execute(&mut self, grant: Grant) {
        let id = grant.id();
        let decided = self.decided.clone();
        let environment = self.environment.clone();
        let notes = Box::new(move |id, note: ExecNote| {
            if matches!(note, ExecNote::Failed { .. }) {
                // Look again, so that a change that made the executor fail is found and named.
                environment.look();
            }
            // Once the loop is gone nobody receives this, and the lifeline ends the child.
            let _ = decided.send(Input::Core(Event::Exec { id, note }));
        });
        // The executor compares the environment, or its absence, with the grant.
        let python = self.python.clone();
        self.controls
            .insert(id, self.executor.execute(grant, python, notes));
    }

    /// The environment has changed: nothing may start from what was prepared in the old one.
    pub fn leave_python(&mut self) {
        if let Some(python) = self.python.take() {
            self.executor.forget(&python.env);
        }
    }

    /// Drops the control of a run that ended.
    pub fn forget(&mut self, event: &Event) {
        if let Event::Exec {
            id,
            note: ExecNote::Ended(_) | ExecNote::Failed { .. },
        } = event
        {
            self.controls.remove(id);
        }
    }
}
