//! A log of a month, written through the real writer.

use std::path::Path;

use countersign::audit;

use super::model::{
    Action, AgentClaim, Blob, BoundInput, Capability, CapabilityUse, DataFormat, Digest, Finding,
    InputKind, Lane, LogEvent, ProposalId, Reviewer, Sensitivity, Severity, SourceStats, State,
    Ticket, VerdictKind, Viewed,
};
use super::{model, samples};

/// Writes a log through the real writer. Returns the id of a proposal in its middle.
pub fn write(state: &Path, records: usize) -> ProposalId {
    let (report, reports) = std::sync::mpsc::channel();
    let handle = audit::open(state)
        .unwrap()
        .writer
        .start(Box::new(move |said| {
            let _ = report.send(said);
        }));
    let mut written = 0;
    let mut on_the_way = 0;
    let mut middle = ProposalId::new();
    for n in 0.. {
        let id = ProposalId::new();
        let opened = LogEvent::Opened {
            version: "0".to_owned(),
            by: reviewer(n),
            tier: model::Tier::Process,
            environment: None,
            preflight: Vec::new(),
            drills: None,
        };
        let next = match n {
            0 => vec![opened],
            n if n.is_multiple_of(SHIFT) => vec![LogEvent::Closed, opened],
            _ => Vec::new(),
        };
        let next = next.into_iter().map(|event| (event, Vec::new()));
        for (event, blobs) in next.chain(life(id, n)) {
            handle.submit_in(Lane::Agents, Ticket::Unawaited, event, blobs);
            written += 1;
            on_the_way += 1;
        }
        while on_the_way > 4_000 {
            reports.recv().unwrap();
            on_the_way -= 1;
        }
        if written * 2 < records {
            middle = id;
        }
        if written >= records {
            break;
        }
    }
    handle.submit_in(
        Lane::Agents,
        Ticket::Unawaited,
        LogEvent::Closed,
        Vec::new(),
    );
    for _ in 0..=on_the_way {
        reports.recv().unwrap();
    }
    handle.close();
    middle
}

/// Proposals while one reviewer has the dashboard open.
const SHIFT: usize = 40;

fn reviewer(n: usize) -> Reviewer {
    Reviewer {
        uid: 1000,
        login: Some(["ana", "bo", "cy"][n / SHIFT % 3].to_owned()),
        ..Reviewer::default()
    }
}

/// The records of one proposal.
pub fn life(id: ProposalId, n: usize) -> Vec<(LogEvent, Vec<Blob>)> {
    let agent = ["etl-bot", "hr-bot", "loop-bot", "sql-bot", "report-bot"][n % 5];
    let code = format!(
        "df = pd.read_csv(\"sales_{n}.csv\")\ntop = df[df[\"amount\"] > {n}]\nfor name, part in top.groupby(\"region\"):\n    \
         print(name, part[\"amount\"].sum(), part[\"amount\"].mean())\ntop.to_csv(\"top_{n}.csv\", index=False)\n"
    );
    let code = Blob::of(code.as_bytes());
    let mut inputs = Vec::new();
    let (mut event, _) = samples::proposed(id, &format!("Head count {n} per region"));
    if let LogEvent::Proposed(p) = &mut event {
        p.digest = code.sha256;
        p.reason = Some(format!("The board asks for quarter {}", n % 40));
        p.agent = Some(AgentClaim {
            name: agent.to_owned(),
            ..AgentClaim::default()
        });
        let private = n.is_multiple_of(3);
        p.inputs = vec![BoundInput {
            name: "staff".to_owned(),
            kind: InputKind::Dataset {
                dataset: if private { "staff" } else { "sales" }.to_owned(),
                format: DataFormat::Csv,
                rows: 2_000,
                columns: Vec::new(),
                sensitivity: if private {
                    Sensitivity::Private
                } else {
                    Sensitivity::Public
                },
                texts: Default::default(),
                summary: None,
            },
            bytes: 81_234,
            sha256: Digest::of(b"staff"),
        }];
        // What expires does at once.
        let time = if n % 10 == 1 { 500 } else { 1_800_000 };
        p.expires_at = jiff::Timestamp::now() + std::time::Duration::from_millis(time);
        p.verdict.source = SourceStats::of(&code.bytes);
        inputs.clone_from(&p.inputs);
        if n.is_multiple_of(7) {
            p.verdict.verdict = VerdictKind::Flagged;
            p.verdict.findings = vec![finding()];
        }
        p.verdict.capabilities = vec![CapabilityUse {
            capability: if n.is_multiple_of(7) {
                Capability::NetworkOut
            } else {
                Capability::FsWrite
            },
            lines: vec![5],
            detail: "pandas.DataFrame.to_csv, \"top.csv\"".to_owned(),
        }];
    }
    let mut life = vec![(event, vec![code.clone()])];
    let by = reviewer(n);
    // Nothing was there for longer when it is decided, and a grant takes all findings.
    let viewed = Viewed {
        selected_ms: (n as u64 * 7_919) % 1_000,
        lines_seen: 5,
        findings_shown: u64::from(n.is_multiple_of(7) && !n.is_multiple_of(10)),
        ..Viewed::default()
    };
    match n % 10 {
        0 => life.push((
            LogEvent::Denied {
                id,
                reason: Some(format!("why email? {n}")),
                by,
                viewed,
            },
            Vec::new(),
        )),
        1 => life.push((LogEvent::Expired { id }, Vec::new())),
        _ => {
            let mut granted = samples::granted(id);
            if let LogEvent::Granted(g) = &mut granted {
                (g.digest, g.by, g.viewed, g.inputs) = (code.sha256, by, viewed, inputs);
                samples::bind(g);
            }
            let (mut finished, blobs) = samples::finished(id);
            if n.is_multiple_of(11)
                && let LogEvent::Finished(f) = &mut finished
            {
                (f.state, f.exit) = (State::Failed, model::Exit::Code(1));
            }
            life.extend([
                (granted, Vec::new()),
                (samples::started(id), Vec::new()),
                (finished, blobs),
            ]);
        }
    }
    life
}

fn finding() -> Finding {
    Finding {
        rule: "NET002".to_owned(),
        name: "network-call".to_owned(),
        severity: Severity::High,
        action: Action::Flag,
        message: "opens a connection".to_owned(),
        hint: "use an input".to_owned(),
        cwe: vec![918],
        line: 5,
        column: 1,
        end_line: 5,
        end_column: 8,
        capability: Some(Capability::NetworkOut),
    }
}
