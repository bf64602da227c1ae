//! The texts of a record that agents, code or people chose.
//!
//! Each field is named here, those that are no such text too: a new field does not compile before it was thought about.
//! Who decided is never replaced, and neither is what a reader needs to follow the chain.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    About, AgentClaim, AgentId, Artifact, BoundInput, CapabilityUse, Column, DrilledLog, EditedLog,
    Finding, FinishedLog, GrantedLog, InputKind, LogEvent, Peer, PolicyRef, ProposedLog, RunError,
    RunEvent, Verdict, Vote, VotedLog,
};

/// Who says a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The analyser: what it names, stands in the code.
    Verdict,
    /// An agent, code or a person.
    Other,
}

/// Hands out each text of a record.
pub(super) fn texts(event: &mut LogEvent, said: &mut dyn FnMut(&mut String, Said)) {
    match event {
        LogEvent::Proposed(p) => verdict(&mut p.verdict, &mut |text| said(text, Said::Verdict)),
        LogEvent::Edited(e) => verdict(&mut e.verdict, &mut |text| said(text, Said::Verdict)),
        _ => {}
    }
    let text: &mut dyn FnMut(&mut String) = &mut |text| said(text, Said::Other);
    match event {
        LogEvent::Opened {
            version: _,
            by: _,
            tier: _,
            environment: _,
            preflight: _,
            drills: _,
        } => {}
        LogEvent::Proposed(p) => proposed(p, text),
        LogEvent::Edited(e) => {
            let EditedLog {
                id: _,
                from: _,
                digest: _,
                kept: _,
                profile: _,
                policy_sha256: _,
                // Above.
                verdict: _,
                by: _,
            } = &mut **e;
        }
        LogEvent::Granted(g) => {
            let GrantedLog {
                id: _,
                digest: _,
                grant_digest: _,
                profile: _,
                policy_sha256: _,
                limits: _,
                tier: _,
                environment: _,
                inputs,
                private_told: _,
                by: _,
                viewed: _,
                votes: _,
            } = &mut **g;
            inputs.iter_mut().for_each(|one| input(one, text));
        }
        LogEvent::Finished(f) => finished(f, text),
        LogEvent::Denied {
            id: _,
            reason,
            by: _,
            viewed: _,
        } => reason.iter_mut().for_each(text),
        LogEvent::Voted(v) => {
            let VotedLog {
                id: _,
                version: _,
                host: _,
                host_key: _,
                offer: _,
                code: _,
                grant: _,
                terms: _,
                nonce: _,
                deadline: _,
                vote:
                    Vote {
                        kind: _,
                        voter: _,
                        viewed: _,
                        reason,
                        signature: _,
                    },
                key: _,
                touched: _,
                verified: _,
                via: _,
                about,
            } = &mut **v;
            reason.iter_mut().for_each(&mut *text);
            if let Some(about) = about {
                let About {
                    proposed_at: _,
                    uid: _,
                    agent,
                    title,
                    profile: _,
                    verdict: _,
                    findings: _,
                    data: _,
                    private: _,
                } = &mut **about;
                text(agent);
                title.iter_mut().for_each(text);
            }
        }
        LogEvent::VoteRefused {
            id: _,
            voter: _,
            vote: _,
            why,
            via: _,
            count: _,
        } => text(why),
        // Names of the host's own file.
        LogEvent::Escalated {
            id: _,
            asked: _,
            also: _,
        } => {}
        LogEvent::Settled {
            id: _,
            host: _,
            state: _,
            message,
            votes: _,
        } => text(message),
        LogEvent::Drilled(d) => {
            // A drill's words are the dashboard's own.
            let DrilledLog {
                id: _,
                end: _,
                drill: _,
                by: _,
                viewed: _,
            } = &mut **d;
        }
        LogEvent::Failed {
            id: _,
            state: _,
            message,
        } => text(message),
        LogEvent::Refused {
            peer: from,
            code: _,
            message,
            count: _,
        } => {
            peer(from, text);
            text(message);
        }
        LogEvent::Paused { agent, by: _ } | LogEvent::Resumed { agent, by: _ } => {
            let AgentId {
                uid: _,
                pid: _,
                name,
                gateway: _,
            } = agent;
            text(name);
        }
        LogEvent::EnvironmentChanged {
            environment: _,
            what,
        } => text(what),
        LogEvent::Recovered {
            segment: _,
            offset: _,
            bytes: _,
            sha256: _,
            quarantined: _,
            lost,
            by: _,
        } => lost.iter_mut().for_each(text),
        LogEvent::Pruned {
            through_segment: _,
            through_seq: _,
            head: _,
            retention_days: _,
            hold,
            gap: _,
            by: _,
        } => hold.iter_mut().for_each(text),
        LogEvent::Erased {
            id: _,
            contents: _,
            reason,
            by: _,
        } => text(reason),
        LogEvent::Unanchored { reason } | LogEvent::Doubted { host: _, reason } => text(reason),
        LogEvent::Blocked { id: _ }
        | LogEvent::Started {
            id: _,
            isolation: _,
        }
        | LogEvent::Expired { id: _ }
        | LogEvent::Withdrawn {
            id: _,
            disconnected: _,
        }
        | LogEvent::Unattended { id: _ }
        | LogEvent::Killed { id: _, by: _ }
        | LogEvent::Replicated {
            id: _,
            digest: _,
            by: _,
        }
        | LogEvent::Closed => {}
    }
}

fn proposed(p: &mut ProposedLog, text: &mut dyn FnMut(&mut String)) {
    let ProposedLog {
        id: _,
        digest: _,
        kept: _,
        profile: _,
        policy_sha256: _,
        agent,
        peer: from,
        title,
        reason,
        traceparent,
        inputs,
        // Above.
        verdict: _,
        expires_at: _,
        drill: _,
    } = p;
    if let Some(AgentClaim {
        name,
        version,
        session,
        model,
    }) = agent
    {
        text(name);
        [version, session, model]
            .into_iter()
            .flatten()
            .for_each(&mut *text);
    }
    peer(from, text);
    [title, reason, traceparent]
        .into_iter()
        .flatten()
        .for_each(&mut *text);
    inputs.iter_mut().for_each(|one| input(one, text));
}

fn peer(peer: &mut Peer, text: &mut dyn FnMut(&mut String)) {
    let Peer {
        uid: _,
        gid: _,
        pid: _,
        exe,
        // A login is its administrator's word.
        gateway: _,
    } = peer;
    exe.iter_mut().for_each(text);
}

fn input(input: &mut BoundInput, text: &mut dyn FnMut(&mut String)) {
    let BoundInput {
        name,
        kind,
        bytes: _,
        sha256: _,
    } = input;
    text(name);
    match kind {
        InputKind::Dataset {
            dataset: _,
            format: _,
            rows: _,
            columns,
            sensitivity: _,
            texts: _,
            summary: _,
        } => columns
            .iter_mut()
            .for_each(|Column { name, dtype: _ }| text(name)),
        InputKind::Json { text: content } => text(content),
        InputKind::Text {
            text: content,
            format: _,
        } => text(content),
        InputKind::Artifact {
            id: _,
            artifact,
            media_type,
            format: _,
            text: content,
        } => {
            text(artifact);
            text(media_type);
            content.iter_mut().for_each(text);
        }
    }
}

fn verdict(verdict: &mut Verdict, text: &mut dyn FnMut(&mut String)) {
    let Verdict {
        verdict: _,
        policy: PolicyRef {
            profile: _,
            sha256: _,
        },
        findings,
        capabilities,
        source: _,
        elapsed_us: _,
        facts: _,
        places: _,
        flows: _,
    } = verdict;
    for finding in findings {
        let Finding {
            rule: _,
            name: _,
            severity: _,
            action: _,
            message,
            hint,
            cwe: _,
            line: _,
            column: _,
            end_line: _,
            end_column: _,
            capability: _,
        } = finding;
        text(message);
        text(hint);
    }
    for CapabilityUse {
        capability: _,
        lines: _,
        detail,
    } in capabilities
    {
        text(detail);
    }
}

fn finished(f: &mut FinishedLog, text: &mut dyn FnMut(&mut String)) {
    let FinishedLog {
        id: _,
        state: _,
        exit: _,
        limit: _,
        duration_ms: _,
        timing_us: _,
        stdout_sha256: _,
        stderr_sha256: _,
        stdout_bytes: _,
        stderr_bytes: _,
        stdout_truncated: _,
        stderr_truncated: _,
        pace: _,
        result_sha256: _,
        error,
        artifacts,
        events,
        accesses,
        unkept: _,
        // Names of the files above.
        unsearched: _,
    } = f;
    if let Some(RunError {
        kind: _,
        message,
        line: _,
        exception,
    }) = error
    {
        text(message);
        exception.iter_mut().for_each(&mut *text);
    }
    let mut taken: BTreeSet<String> = artifacts.iter().map(|file| file.name.clone()).collect();
    for Artifact {
        name,
        media_type,
        bytes: _,
        sha256: _,
    } in artifacts
    {
        let before = name.clone();
        text(name);
        if *name != before && Artifact::is_name(&before) {
            *name = file_name(name, &mut taken);
        }
        text(media_type);
    }
    for RunEvent {
        kind,
        message,
        line: _,
    } in events
    {
        text(kind);
        text(message);
    }
    // The child says the names of what it counts.
    let counted = std::mem::take(accesses);
    *accesses = counted
        .into_iter()
        .map(|(mut name, count)| {
            text(&mut name);
            (name, count)
        })
        .collect::<BTreeMap<_, _>>();
}

/// A name with marks as the name of a file that no other has.
fn file_name(marked: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = marked.replace(['[', ']'], "").replace(':', "-");
    if !Artifact::is_name(&name) {
        // The mark is longer than the secret was.
        name = "REDACTED".to_owned();
    }
    let all = (1_u64..).map(|n| match n {
        1 => name.clone(),
        n => match name.rsplit_once('/') {
            Some((folders, name)) => format!("{folders}/{n}-{name}"),
            None => format!("{n}-{name}"),
        },
    });
    let mut few = all.take(1 + taken.len());
    let free = few.find(|name| Artifact::is_name(name) && !taken.contains(name));
    let free = free.unwrap_or(name);
    taken.insert(free.clone());
    free
}
