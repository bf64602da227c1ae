//! What a proposal's code touches and what comes back, in the order in which a person asks: data, files, network,
//! programs. Derived from the verdict and the inputs; judges nothing.

use std::collections::{BTreeMap, BTreeSet};

use unicode_security::confusable_detection::skeleton;

use super::{Alteration, Altered, BoundInput, Capability, Flow, InputKind, Place, Verdict, Way};

/// Values that a part of a time can have at most; classes and conditions have fewer.
const CLASSES_MOST: u64 = 31;

/// The effects of one proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Every input that the run is given, in the given order.
    pub inputs: Vec<InputUse>,
    pub reads: Vec<Touch>,
    pub writes: Vec<Touch>,
    pub deletes: Vec<Touch>,
    pub network: Vec<Touch>,
    /// Programs, threads, native code, code made while it runs, objects made from bytes.
    pub runs: Vec<Touch>,
    /// Reads and changes of the system's or the interpreter's state.
    pub system: Vec<Touch>,
    /// Values that the code changes before they leave; inputs by their own names.
    pub alters: Vec<Alteration>,
    /// Parts that the analyser could not follow.
    pub unread: Vec<Touch>,
    /// The data that leaves otherwise than in files.
    pub leaves: Vec<Leaving>,
    /// Whether the analyser could not follow the data: all of it may leave everywhere.
    pub tangled: bool,
    /// The line from which values may pass unseen.
    pub lost: Option<u32>,
    marks: BTreeMap<u32, EffectMark>,
    private_lines: BTreeSet<u32>,
}

/// One input, and how the code names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputUse {
    /// Its name in Python, which the agent chose.
    pub name: String,
    /// The data set's own name; `None` for what the agent brought.
    pub dataset: Option<String>,
    pub private: bool,
    /// Rows of a data set; `None` for what the agent brought.
    pub rows: Option<u64>,
    /// Columns that the code names, in the order of the text.
    pub columns: Vec<String>,
    /// How many columns it has; 0 if unknown.
    pub of: usize,
    /// The lines that name the input or one of its columns.
    pub lines: Vec<u32>,
    /// Whether the code names the input itself.
    pub named: bool,
    /// Lines that pick columns by a name that is computed.
    pub computed: Vec<u32>,
    /// Whether all of its columns may leave the run.
    pub whole: bool,
}

/// Data that leaves the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaving {
    pub to: Way,
    /// The name of a public value.
    pub what: String,
    pub lines: Vec<u32>,
    /// The parts of the inputs, private ones first.
    pub parts: Vec<LeavingPart>,
}

/// What leaves of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeavingPart {
    /// The data set's name, or the input's.
    pub of: String,
    pub private: bool,
    /// Columns whose values may leave as they are; those with most different values first.
    pub as_is: Vec<String>,
    /// Columns of which only what was computed from each value may leave.
    pub rows: Vec<String>,
    /// Columns of which only counts, means and the like leave.
    pub summed: Vec<String>,
    /// How many columns it has; 0 if unknown.
    pub columns: usize,
}

/// One kind of effect with its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    pub capability: Capability,
    /// `to_csv`, `requests.get`, `threads`.
    pub what: String,
    pub files: Vec<String>,
    pub lines: Vec<u32>,
    /// The data that is written.
    pub parts: Vec<LeavingPart>,
    /// Another file of the code whose name looks alike.
    pub like: Option<String>,
    /// The call that found the files, with its line.
    pub found_by: Option<(String, u32)>,
    /// The text that is evaluated; a list's pattern.
    pub text: Option<String>,
    /// Variables of the environment that are read.
    pub variables: Vec<String>,
}

/// The strongest effect of a line, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectMark {
    Private,
    /// Files, folders and variables that are read.
    Reads,
    /// Values that others take the place of before they are shown.
    Alters,
    Writes,
    System,
    Deletes,
    Runs,
    Network,
}

impl Effects {
    pub fn of(verdict: &Verdict, inputs: &[BoundInput]) -> Self {
        let mut effects = Self {
            inputs: inputs.iter().map(InputUse::of).collect(),
            ..Self::default()
        };
        // A verdict from the log has no places; then the capabilities say the same less exactly.
        let coarse: Vec<Place> = match verdict.places.is_empty() {
            true => verdict.capabilities.iter().flat_map(split).collect(),
            false => Vec::new(),
        };
        let places = if coarse.is_empty() {
            &verdict.places
        } else {
            &coarse
        };
        for place in places {
            effects.add(place, inputs);
        }
        effects.tell(verdict, inputs);
        effects.own_marks();
        effects
    }

    /// Whether a private input is among the inputs.
    pub fn private(&self) -> bool {
        self.inputs.iter().any(|input| input.private)
    }

    /// Whether files are written or deleted.
    pub fn changes_files(&self) -> bool {
        !self.writes.is_empty() || !self.deletes.is_empty()
    }

    /// Whether this line, counted from 1, names private data.
    pub fn is_private(&self, line: u32) -> bool {
        self.private_lines.contains(&line)
    }

    /// The strongest effect of this line beside reading data, counted from 1.
    pub fn mark(&self, line: u32) -> Option<EffectMark> {
        self.marks.get(&line).copied()
    }

    /// Every effect of every line: reads of private data, what is altered (nothing names how numbers are printed), then
    /// what is touched outside.
    pub fn each(&self) -> impl Iterator<Item = (u32, EffectMark, &str)> {
        let private = self.inputs.iter().filter(|input| input.private);
        let private = private.flat_map(|input| {
            let lines = input.lines.iter();
            lines.map(|line| (*line, EffectMark::Private, input.name.as_str()))
        });
        let lists = [
            (&self.reads, EffectMark::Reads),
            (&self.writes, EffectMark::Writes),
            (&self.system, EffectMark::System),
            (&self.deletes, EffectMark::Deletes),
            (&self.runs, EffectMark::Runs),
            (&self.network, EffectMark::Network),
        ];
        let others = lists.into_iter().flat_map(|(list, mark)| {
            list.iter().flat_map(move |touch| {
                let lines = touch.lines.iter();
                lines.map(move |line| (*line, mark, touch.what.as_str()))
            })
        });
        let alters = self.alters.iter().flat_map(|one| {
            let what = match &one.what {
                Altered::Column { name, .. } => name.as_str(),
                Altered::Values { of } => of,
                Altered::Printing => "",
            };
            let lines = one.lines.iter();
            lines.map(move |line| (*line, EffectMark::Alters, what))
        });
        private.chain(alters).chain(others)
    }

    fn add(&mut self, place: &Place, inputs: &[BoundInput]) {
        let list = match place.capability {
            Capability::DataRead => return self.read(place, inputs),
            // A column of a table in memory: no effect outside.
            Capability::DataWrite => return,
            Capability::FsRead => &mut self.reads,
            Capability::FsWrite => &mut self.writes,
            Capability::FsDelete => &mut self.deletes,
            Capability::NetworkOut | Capability::NetworkListen => &mut self.network,
            Capability::Exec
            | Capability::DynamicCode
            | Capability::Deserialize
            | Capability::Native => &mut self.runs,
            Capability::Reflect | Capability::ReadSystemState | Capability::ModifySystemState => {
                &mut self.system
            }
            Capability::Unanalyzed => &mut self.unread,
        };
        // `to_csv` and `to_csv, literal argument` are one effect; a name that is computed is another: no literal
        // one may stand for it.
        let mut words = place.detail.split(", ");
        let what = words.next().unwrap_or_default();
        let computed = place.files.is_empty() && words.any(|word| word.starts_with("computed"));
        let what = match computed {
            true => format!("{what} under a computed name"),
            false => what.to_owned(),
        };
        let touch = match list
            .iter_mut()
            .find(|t| t.capability == place.capability && t.what == what && t.files == place.files)
        {
            Some(touch) => touch,
            None => {
                list.push(Touch {
                    capability: place.capability,
                    what,
                    files: place.files.clone(),
                    ..Touch::default()
                });
                let last = list.len() - 1;
                &mut list[last]
            }
        };
        union(&mut touch.lines, &place.lines);
    }

    /// What the analyser tells beside the places.
    fn tell(&mut self, verdict: &Verdict, inputs: &[BoundInput]) {
        let flows = &verdict.flows;
        self.tangled = flows.tangled;
        self.lost = flows.lost;
        self.alters = flows.alters.clone();
        for one in &mut self.alters {
            if let Altered::Column { of, own: false, .. } | Altered::Values { of } = &mut one.what
                && let Some(input) = self.inputs.iter().find(|input| input.name == *of)
                && let Some(dataset) = &input.dataset
            {
                of.clone_from(dataset);
            }
        }
        for read in &flows.reads {
            let Some(mine) = self.inputs.iter_mut().find(|i| i.name == read.input) else {
                continue;
            };
            for (column, lines) in &read.columns {
                if !mine.columns.contains(column) {
                    mine.columns.push(column.clone());
                }
                union(&mut mine.lines, lines);
            }
            union(&mut mine.computed, &read.computed);
            union(&mut mine.lines, &read.computed);
        }
        for flow in &flows.exits {
            for share in &flow.shares {
                let Some(mine) = self.inputs.iter_mut().find(|i| i.name == share.input) else {
                    continue;
                };
                let rows = share.as_is.len() + share.rows.len();
                mine.whole |= share.of > 0 && rows + share.summed.len() == share.of;
                if mine.private && rows > 0 {
                    union(&mut mine.lines, &[flow.line]);
                }
            }
            let parts = parts(flow, inputs);
            if flow.to != Way::File {
                self.leave(flow, parts);
                continue;
            }
            let mut written = self
                .writes
                .iter_mut()
                .filter(|t| t.lines.contains(&flow.line));
            if let Some(touch) = written.next() {
                merge(&mut touch.parts, parts);
            }
        }
        for listing in &flows.listings {
            self.reads.push(Touch {
                capability: Capability::FsRead,
                what: listing.what.clone(),
                lines: vec![listing.line],
                text: Some(listing.text.clone()),
                ..Touch::default()
            });
        }
        if !flows.listings.is_empty() {
            // The class by itself reads nothing.
            self.reads.retain(|touch| touch.what != "pathlib.Path");
        }
        for (line, names) in &flows.variables {
            let lists = self.reads.iter_mut().chain(&mut self.system);
            for touch in lists.filter(|t| t.lines.contains(line)) {
                if touch.what.contains("environ") || touch.what.contains("getenv") {
                    touch.variables.extend(names.iter().cloned());
                }
            }
        }
        for (line, by, from) in &flows.found_by {
            let lists = self.writes.iter_mut().chain(&mut self.deletes);
            for touch in lists.filter(|t| t.lines.contains(line)) {
                touch.found_by = Some((by.clone(), *from));
            }
        }
        for text in &flows.evaluated {
            let known = self.runs.iter_mut().find(|t| {
                t.text.is_none() && t.lines == [text.line] && t.what.ends_with(&text.what)
            });
            match known {
                Some(touch) => touch.text = Some(text.text.clone()),
                None => self.runs.push(Touch {
                    capability: Capability::DynamicCode,
                    what: text.what.clone(),
                    lines: vec![text.line],
                    text: Some(text.text.clone()),
                    ..Touch::default()
                }),
            }
        }
        self.lookalikes();
    }

    fn leave(&mut self, flow: &Flow, parts: Vec<LeavingPart>) {
        if parts.is_empty() {
            return;
        }
        let alike =
            |l: &&mut Leaving| l.to == flow.to && (l.to != Way::Public || l.what == flow.what);
        match self.leaves.iter_mut().find(alike) {
            Some(known) => {
                union(&mut known.lines, &[flow.line]);
                merge(&mut known.parts, parts);
            }
            None => self.leaves.push(Leaving {
                to: flow.to,
                what: flow.what.clone(),
                lines: vec![flow.line],
                parts,
            }),
        }
    }

    /// Marks files whose names look like those of others.
    fn lookalikes(&mut self) {
        let lists = [&self.reads, &self.writes, &self.deletes];
        let all = lists.into_iter().flatten().flat_map(|touch| &touch.files);
        let all: Vec<(String, String)> = all
            .map(|name| {
                (
                    skeleton(name).collect::<String>().to_lowercase(),
                    name.clone(),
                )
            })
            .collect();
        for touch in self.writes.iter_mut().chain(&mut self.deletes) {
            touch.like = touch.files.iter().find_map(|name| {
                let shape = skeleton(name).collect::<String>().to_lowercase();
                let other = all
                    .iter()
                    .find(|(other, spelt)| *other == shape && spelt != name);
                other.map(|(_, spelt)| spelt.clone())
            });
        }
    }

    fn read(&mut self, place: &Place, inputs: &[BoundInput]) {
        for (read, input) in self.inputs.iter_mut().zip(inputs) {
            if place.detail == read.name {
                read.named = true;
            } else if has_column(input, &place.detail) {
                if !read.columns.contains(&place.detail) {
                    read.columns.push(place.detail.clone());
                }
            } else {
                continue;
            }
            union(&mut read.lines, &place.lines);
        }
    }

    fn own_marks(&mut self) {
        let mut marks = BTreeMap::new();
        let mut private = BTreeSet::new();
        for (line, mark, _) in self.each() {
            if mark == EffectMark::Private {
                private.insert(line);
                continue;
            }
            let strongest = marks.entry(line).or_insert(mark);
            *strongest = (*strongest).max(mark);
        }
        self.marks = marks;
        self.private_lines = private;
    }
}

impl Default for Touch {
    fn default() -> Self {
        Self {
            capability: Capability::Unanalyzed,
            what: String::new(),
            files: Vec::new(),
            lines: Vec::new(),
            parts: Vec::new(),
            like: None,
            found_by: None,
            text: None,
            variables: Vec::new(),
        }
    }
}

impl InputUse {
    fn of(input: &BoundInput) -> Self {
        let (dataset, rows, of) = match &input.kind {
            InputKind::Dataset {
                dataset,
                rows,
                columns,
                ..
            } => (Some(dataset.clone()), Some(*rows), columns.len()),
            _ => (None, None, 0),
        };
        Self {
            name: input.name.clone(),
            dataset,
            private: input.is_private(),
            rows,
            columns: Vec::new(),
            of,
            lines: Vec::new(),
            named: false,
            computed: Vec::new(),
            whole: false,
        }
    }
}

/// What leaves by a flow, private data first.
fn parts(flow: &Flow, inputs: &[BoundInput]) -> Vec<LeavingPart> {
    let part = |share: &super::Share| {
        let input = inputs.iter().find(|input| input.name == share.input)?;
        let mut as_is = share.as_is.clone();
        let mut rows = share.rows.clone();
        let of = match &input.kind {
            InputKind::Dataset {
                dataset,
                columns,
                summary,
                ..
            } => {
                let distinct = |name: &String| {
                    let at = columns.iter().position(|c| c.name == *name)?;
                    summary.as_ref()?.columns.get(at)?.distinct
                };
                // Of few values, a class or a condition may say which.
                let few = |name: &String| distinct(name).is_none_or(|n| n <= CLASSES_MOST);
                as_is.extend(rows.extract_if(.., |name| few(name)));
                as_is.sort_by_key(|name| std::cmp::Reverse(distinct(name)));
                dataset
            }
            _ => &input.name,
        };
        Some(LeavingPart {
            of: of.clone(),
            private: input.is_private(),
            as_is,
            rows,
            summed: share.summed.clone(),
            columns: share.of,
        })
    };
    let mut parts: Vec<LeavingPart> = flow.shares.iter().filter_map(part).collect();
    parts.sort_by_key(|part| !part.private);
    parts
}

fn merge(into: &mut Vec<LeavingPart>, parts: Vec<LeavingPart>) {
    for part in parts {
        let Some(known) = into.iter_mut().find(|p| p.of == part.of) else {
            into.push(part);
            continue;
        };
        for name in part.as_is {
            if !known.as_is.contains(&name) {
                known.as_is.push(name);
            }
        }
        for name in part.rows {
            if !known.rows.contains(&name) {
                known.rows.push(name);
            }
        }
        for name in part.summed {
            if !known.summed.contains(&name) {
                known.summed.push(name);
            }
        }
        known.rows.retain(|name| !known.as_is.contains(name));
        let (as_is, rows) = (&known.as_is, &known.rows);
        let raw = |name: &String| as_is.contains(name) || rows.contains(name);
        known.summed.retain(|name| !raw(name));
    }
    into.sort_by_key(|part| !part.private);
}

fn has_column(input: &BoundInput, name: &str) -> bool {
    match &input.kind {
        InputKind::Dataset { columns, .. } => columns.iter().any(|c| c.name == name),
        _ => false,
    }
}

/// The details of one capability as places, each with all of the capability's lines.
fn split(used: &super::CapabilityUse) -> Vec<Place> {
    let between = match used.capability {
        Capability::DataRead | Capability::DataWrite => ", ",
        _ => "; ",
    };
    let details = used.detail.split(between).filter(|d| *d != "…");
    details
        .map(|detail| Place {
            capability: used.capability,
            detail: detail.to_owned(),
            lines: used.lines.clone(),
            files: Vec::new(),
        })
        .collect()
}

fn union(lines: &mut Vec<u32>, more: &[u32]) {
    lines.extend(more);
    lines.sort_unstable();
    lines.dedup();
}

#[cfg(test)]
#[path = "effects_tests.rs"]
mod tests;
