//! `[notify] command`: has the host's own command tell people that votes are asked of them.
//!
//! It runs beside the loop, one at a time. Whatever becomes of it, nothing waits for it: a failure is told, and that is all.

mod errand;
mod queue;

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

use crate::broker::notice::Notice;
use crate::config::NotifySection;

use super::Input;
use errand::Errand;
use queue::Queue;

/// With nothing to tell.
const LONG: Duration = Duration::from_secs(3600);

/// Takes notices. A clone takes them for the same command.
#[derive(Clone)]
pub struct Notices(UnboundedSender<Notice>);

impl Notices {
    /// `None` if there is no command.
    pub fn start(notify: &NotifySection, inbox: UnboundedSender<Input>) -> Option<Self> {
        let errand = Errand::of(&notify.command, Duration::from_secs(notify.within_s))?;
        let queue = Queue::new(Duration::from_secs(notify.every_s), notify.events.clone());
        let (notices, taken) = unbounded_channel();
        tokio::spawn(tell(errand, queue, taken, move |news| {
            let _ = inbox.send(Input::Notices(news));
        }));
        Some(Self(notices))
    }

    pub fn take(&self, notice: Notice) {
        // The receiver ends only with the program.
        let _ = self.0.send(notice);
    }
}

/// Runs the command whenever something is due. `news` hears why it failed, and that it works again (`None`), each once.
async fn tell(
    errand: Errand,
    mut queue: Queue,
    mut taken: UnboundedReceiver<Notice>,
    news: impl Fn(Option<String>),
) {
    let begun = Instant::now();
    let mut last: Option<String> = None;
    loop {
        while let Ok(notice) = taken.try_recv() {
            queue.add(notice);
        }
        if let Some(message) = queue.next(begun.elapsed()) {
            let done = errand.run(&message).await;
            let why = done.err();
            if why.is_some() {
                queue.failed(message, begun.elapsed());
            }
            if why != last {
                news(why.clone());
                last = why;
            }
            continue;
        }
        let due = queue.due().unwrap_or_else(|| begun.elapsed() + LONG);
        tokio::select! {
            notice = taken.recv() => match notice {
                Some(notice) => queue.add(notice),
                None => return,
            },
            () = sleep_until(begun + due) => {}
        }
    }
}
