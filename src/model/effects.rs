//! What a proposal's code touches and what comes back, in the order in which a person asks: data, files, network,
//! programs. Derived from the verdict and the inputs; judges nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{BoundInput, Capability, InputKind, Place, Verdict};

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
    /// Parts that the analyser could not follow.
    pub unread: Vec<Touch>,
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
}

/// One kind of effect with its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    pub capability: Capability,
    /// `to_csv`, `requests.get`, `threads`.
    pub what: String,
    pub files: Vec<String>,
    pub lines: Vec<u32>,
}

/// The strongest effect of a line, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectMark {
    Private,
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

    /// Every effect of every line: reads of private data, then what is touched outside.
    pub fn each(&self) -> impl Iterator<Item = (u32, EffectMark, &str)> {
        let private = self.inputs.iter().filter(|input| input.private);
        let private = private.flat_map(|input| {
            let lines = input.lines.iter();
            lines.map(|line| (*line, EffectMark::Private, input.name.as_str()))
        });
        let lists = [
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
        private.chain(others)
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
            .find(|t| t.capability == place.capability && t.what == what)
        {
            Some(touch) => touch,
            None => {
                list.push(Touch {
                    capability: place.capability,
                    what,
                    files: Vec::new(),
                    lines: Vec::new(),
                });
                let last = list.len() - 1;
                &mut list[last]
            }
        };
        union(&mut touch.lines, &place.lines);
        touch.files.extend(place.files.iter().cloned());
        touch.files.sort();
        touch.files.dedup();
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
        }
    }
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
mod tests {
    use std::collections::BTreeSet;

    use super::super::{
        CapabilityUse, Column, DataFormat, Digest, PolicyRef, Sensitivity, SourceStats, VerdictKind,
    };
    use super::*;

    fn input(name: &str, columns: &[&str], sensitivity: Sensitivity) -> BoundInput {
        let column = |name: &&str| Column {
            name: (*name).to_owned(),
            dtype: "object".to_owned(),
        };
        BoundInput {
            name: name.to_owned(),
            kind: InputKind::Dataset {
                dataset: name.to_owned(),
                format: DataFormat::Csv,
                rows: 10,
                columns: columns.iter().map(column).collect(),
                sensitivity,
                texts: BTreeSet::new(),
                summary: None,
            },
            bytes: 1,
            sha256: Digest::of(name.as_bytes()),
        }
    }

    fn verdict(places: &[(Capability, &str, &[u32])]) -> Verdict {
        let place = |(capability, detail, lines): &(Capability, &str, &[u32])| Place {
            capability: *capability,
            detail: (*detail).to_owned(),
            lines: lines.to_vec(),
            files: Vec::new(),
        };
        Verdict {
            verdict: VerdictKind::Clear,
            policy: PolicyRef {
                profile: "analysis".to_owned(),
                sha256: String::new(),
            },
            findings: Vec::new(),
            capabilities: Vec::new(),
            source: SourceStats::of(b""),
            elapsed_us: 0,
            facts: None,
            places: places.iter().map(place).collect(),
        }
    }

    use Capability as C;

    #[test]
    fn columns_belong_to_the_inputs_that_have_them() {
        let inputs = [
            input("staff", &["email", "dept"], Sensitivity::Private),
            input("sales", &["dept", "amount"], Sensitivity::Public),
            input("spare", &["other"], Sensitivity::Public),
        ];
        let verdict = verdict(&[
            (C::DataRead, "staff", &[1]),
            (C::DataRead, "dept", &[2]),
            (C::DataRead, "amount", &[3]),
            (C::DataRead, "unknown", &[4]),
        ]);
        let effects = Effects::of(&verdict, &inputs);
        let [staff, sales, spare] = &effects.inputs[..] else {
            panic!("{effects:?}")
        };
        assert!(staff.named && staff.private && effects.private());
        assert_eq!(
            (&staff.columns[..], &staff.lines[..]),
            (&["dept".to_owned()][..], &[1, 2][..])
        );
        assert_eq!(sales.columns, ["dept", "amount"]);
        assert!(!sales.named && spare.lines.is_empty());
    }

    #[test]
    fn the_strongest_effect_of_a_line_marks_it() {
        let inputs = [input("staff", &["email"], Sensitivity::Private)];
        let verdict = verdict(&[
            (C::DataRead, "email", &[1, 2, 3, 4]),
            (C::FsWrite, "to_csv, literal argument", &[2, 3, 4]),
            (C::Exec, "os.system", &[3, 4]),
            (C::NetworkOut, "requests.get", &[4]),
            (C::DataWrite, "h", &[5]),
        ]);
        let effects = Effects::of(&verdict, &inputs);
        let marks: Vec<_> = (1..=5).map(|line| effects.mark(line)).collect();
        let private: Vec<_> = (1..=5).map(|line| effects.is_private(line)).collect();
        assert_eq!(private, [true, true, true, true, false]);
        use EffectMark as M;
        assert_eq!(
            marks,
            [None, Some(M::Writes), Some(M::Runs), Some(M::Network), None]
        );
    }

    #[test]
    fn every_capability_is_an_effect_but_a_column_in_memory() {
        for capability in Capability::ALL {
            let effects = Effects::of(&verdict(&[(capability, "x", &[1])]), &[]);
            let lists = [
                &effects.reads,
                &effects.writes,
                &effects.deletes,
                &effects.network,
                &effects.runs,
                &effects.system,
                &effects.unread,
            ];
            let listed = lists.iter().map(|list| list.len()).sum::<usize>();
            let in_memory = matches!(capability, C::DataRead | C::DataWrite);
            assert_eq!(listed, usize::from(!in_memory), "{capability}");
        }
    }

    #[test]
    fn one_effect_in_two_words_is_one_and_a_verdict_of_the_log_says_the_same_coarsely() {
        let two = verdict(&[
            (C::FsWrite, "to_csv", &[4]),
            (C::FsWrite, "to_csv, literal argument", &[2]),
        ]);
        let effects = Effects::of(&two, &[]);
        assert_eq!(effects.writes.len(), 1);
        assert_eq!(effects.writes[0].lines, [2, 4]);
        let mut logged = verdict(&[]);
        logged.capabilities = vec![CapabilityUse {
            capability: C::FsWrite,
            lines: vec![2, 4],
            detail: "to_csv, literal argument; savefig; …".to_owned(),
        }];
        let effects = Effects::of(&logged, &[]);
        let names: Vec<&str> = effects.writes.iter().map(|t| t.what.as_str()).collect();
        assert_eq!(names, ["to_csv", "savefig"]);
    }
}
