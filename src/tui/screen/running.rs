//! What a run uses of its limits while it goes on, and what it used.

use std::time::Duration;

use crate::broker::Entry;
use crate::model::Usage;

use super::super::flow::Para;
use super::super::theme::Role;
use super::super::words;
use super::Screen;
use super::panes::told_of;

/// Percent of a limit from which it stands out.
const NEAR: u64 = 80;

impl Screen<'_> {
    /// How long the entry has been running; `None` unless it runs.
    pub(super) fn runs_for(&self, entry: &Entry) -> Option<Duration> {
        let since = entry.released()?;
        Some(self.now.boot.saturating_sub(since.boot))
    }

    /// What the run uses, each against its limit; `None` unless it runs. Only time is known before
    /// the first measurement.
    pub(super) fn uses(&self, entry: &Entry) -> Option<Para> {
        let for_ms = self.runs_for(entry)?.as_millis() as u64;
        let limits = self.state.policy_of(entry)?.limits;
        let mut parts = vec![(
            format!(
                "{} of {}",
                words::countdown(Duration::from_millis(for_ms)),
                words::countdown(Duration::from_secs(limits.wall_s))
            ),
            is_near(for_ms, limits.wall_s.saturating_mul(1000)),
        )];
        if let Some(Usage {
            cpu_ms,
            memory_kib,
            processes,
            output_bytes,
            ..
        }) = entry.used()
        {
            let n = words::number;
            let cpu = format!(
                "cpu {} of {} s",
                words::cpu_seconds(cpu_ms),
                n(limits.cpu_s)
            );
            let memory = words::mebibytes(memory_kib);
            let memory = format!("{memory} of {} MB", n(limits.memory_mb));
            let printed = words::bytes_of(output_bytes, limits.output_bytes);
            parts.extend([
                (cpu, is_near(cpu_ms, limits.cpu_s.saturating_mul(1000))),
                (
                    memory,
                    is_near(memory_kib, limits.memory_mb.saturating_mul(1024)),
                ),
                (
                    format!("printed {printed}"),
                    is_near(output_bytes, limits.output_bytes),
                ),
            ]);
            if processes > 1 {
                parts.push((format!("{} processes", n(processes as u64)), false));
            }
        }
        let mut para = Para::default();
        for (i, (text, near)) in parts.into_iter().enumerate() {
            if i > 0 {
                para = para.and(" · ", Role::Dim);
            }
            para = match near {
                true => para.and(format!("▲ {text}"), Role::Flagged),
                false => para.and(text, Role::Strong),
            };
        }
        Some(para)
    }

    /// What a run that ended used, as far as it is known.
    pub(super) fn used(&self, entry: &Entry) -> Option<Para> {
        let used = entry.used().filter(|_| entry.state().is_final())?;
        Some(told_of(
            "used",
            &format!(
                "{} s of processor time · up to {} MB beside Python and its libraries",
                words::cpu_seconds(used.cpu_ms),
                words::mebibytes(used.peak_kib)
            ),
        ))
    }
}

fn is_near(used: u64, limit: u64) -> bool {
    limit > 0 && used.saturating_mul(100) >= limit.saturating_mul(NEAR)
}

#[cfg(test)]
mod tests {
    use crate::broker::ExecNote;
    use crate::model::StreamName;

    use super::super::super::bench::{Making, run};
    use super::super::super::snapshot_tests::at_sizes;
    use super::*;

    const USED: Usage = Usage {
        cpu_ms: 3_190,
        memory_kib: 212 * 1024,
        peak_kib: 240 * 1024,
        processes: 1,
        output_bytes: 11_800,
    };

    #[test]
    fn a_run_shows_what_it_uses() {
        at_sizes("run_uses", |b| {
            b.propose(Making::clear("for i in range(9): work(i)\n"));
            let id = b.start();
            b.output(id, StreamName::Stdout, "0\n1\n2\n");
            b.advance(4_000);
            b.exec(id, ExecNote::Used(USED));
        });
    }

    #[test]
    fn a_run_near_a_limit_stands_out() {
        at_sizes("run_near_a_limit", |b| {
            b.propose(Making::clear("while True: pass\n"));
            let id = b.start();
            b.advance(250_000);
            let used = Usage {
                cpu_ms: 249_000,
                processes: 3,
                ..USED
            };
            b.exec(id, ExecNote::Used(used));
        });
    }

    #[test]
    fn a_run_that_ended_says_what_it_used() {
        at_sizes("run_used", |b| {
            b.propose(Making::clear("print(1)\n"));
            let id = b.start();
            b.exec(id, ExecNote::Used(USED));
            b.end(id, run("1\n"));
            b.focus_on(super::super::super::ui::Pane::Outcome);
        });
    }
}
