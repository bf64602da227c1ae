//! Flows: which columns of the inputs may reach what leaves the run.
//!
//! The pass goes through the statements in their order and keeps, for each name, what its value may hold. It errs on
//! the side of more: an unknown call holds everything that it was given. Where values pass unseen (a method that Python
//! calls by itself, an unknown decorator, state of a library), every exit holds everything that the snippet reads. It
//! does not withstand code that means to hide: the guide lists the known ways.
//! What only a mask gives away is not told; a branch that values of a row choose is, so are an index, a key, a length and an
//! order, and what a loop over numbers finds out. It judges nothing.

mod alters;
#[cfg(test)]
mod alters_tests;
mod applies;
mod calls;
mod choices;
#[cfg(test)]
mod choices_tests;
mod coarse;
#[cfg(test)]
mod coarse_tests;
mod columns;
mod counts;
mod definitions;
mod exprs;
mod formats;
mod functions;
mod groups;
mod heap;
mod held;
#[cfg(test)]
mod hidden_tests;
mod hows;
mod iterators;
#[cfg(test)]
mod iterators_tests;
mod kinds;
mod library;
mod metrics;
mod misnamed;
#[cfg(test)]
mod misnamed_tests;
mod names;
mod picks;
mod puts;
mod results;
#[cfg(test)]
mod routes_tests;
mod same;
mod shapes;
#[cfg(test)]
mod shapes_tests;
mod stmts;
mod sums;
mod tables;
#[cfg(test)]
mod tests;
mod texts;
mod unseen;
mod value;
mod whole;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use self::functions::{Frame, Func};
use self::held::Held;
use self::value::{ANY, FIGURES, FRAME, LIST, PLAIN, SINGLE, TABLE, Value};
use super::facts::Facts;
use super::fold::fold;
use super::parse::ast::Stmt;
use super::source::Source;
use crate::model::{Capability, ColumnRead, Flow as Leaves, Flows, Setting, Share, Way};
use crate::policy::{Contract, Policy};

/// Steps after which a snippet counts as tangled.
const STEPS: u32 = 150_000;
/// Rounds over the whole snippet.
const ROUNDS: usize = 8;
/// Expressions in expressions; no ordinary code has more.
const DEPTH: usize = 60;

/// One column of an input; without a name, an input whose columns are not known.
struct Column<'s> {
    input: usize,
    name: Option<&'s str>,
    /// Whether its values may be texts, which a sum joins.
    text: bool,
}

/// The pass over one snippet.
pub(super) struct Pass<'a> {
    contract: Contract,
    text: &'a str,
    inputs: Vec<&'a str>,
    columns: Vec<Column<'a>>,
    by_name: HashMap<&'a str, Vec<usize>>,
    /// Names that import modules, with their dotted paths.
    imports: HashMap<Cow<'a, str>, String>,
    /// Offsets of calls that write files, with the last part of their name.
    writes: HashMap<usize, String>,
    frames: Vec<Frame<'a>>,
    funcs: Vec<Func<'a>>,
    func_at: HashMap<usize, u32>,
    methods: HashMap<Cow<'a, str>, Vec<u32>>,
    /// What columns of this name were made of.
    derived: HashMap<&'a str, Value<'a>>,
    /// Names of columns that tables got which had others.
    stored: HashSet<&'a str>,
    /// The same for columns of tables of groups, which `agg` makes.
    results: HashMap<&'a str, Value<'a>>,
    /// Columns that were looked up before anything was known of them.
    missed: HashSet<&'a str>,
    /// What columns of computed names were made of.
    derived_any: Value<'a>,
    /// What was stored as attributes of this name.
    attrs: HashMap<Cow<'a, str>, Value<'a>>,
    /// What was put into values made at these sites.
    heap: HashMap<u32, Value<'a>>,
    /// Bindings of functions that have returned.
    left: HashMap<Cow<'a, str>, Value<'a>>,
    /// What names had at other times, for what runs later than it stands.
    ever: HashMap<Cow<'a, str>, Value<'a>>,
    /// Names that functions looked up around them.
    asked: HashSet<Cow<'a, str>>,
    /// Sites that views look at.
    views: HashMap<u32, Vec<u32>>,
    /// Everything of the inputs that was read.
    touched: Value<'a>,
    /// What was written to files.
    written: Value<'a>,
    /// What names of files were made of.
    named: Value<'a>,
    /// What the counts of the loops at hand depend on.
    counted: Vec<Value<'a>>,
    /// Loops at hand that go through values of the snippet's own: a condition within them finds out a value.
    sweeps: usize,
    /// What the ends of the loop at hand depend on.
    jumped: Value<'a>,
    choices: choices::Choices<'a>,
    /// Where values pass unseen, if they do: every exit then holds what was read.
    unseen: Option<usize>,
    /// The statement at hand.
    here: usize,
    /// Texts that are evaluated, by the offset of the call.
    evaluated: &'a BTreeMap<usize, (String, String)>,
    /// Names by which classes and objects of the snippet have values of their own.
    own: HashSet<Cow<'a, str>>,
    /// Functions that make objects of classes.
    makers: HashSet<u32>,
    /// Sites of functions that keep what they are given.
    caches: HashSet<u32>,
    /// Functions of classes.
    of_classes: HashSet<u32>,
    /// Sites of lists of literal texts.
    of_texts: HashSet<u32>,
    /// Sites of classes.
    classes: HashSet<u32>,
    /// Whether objects may have any such name.
    own_any: bool,
    /// Whether a type may name values of the data, as that of categories does.
    typed: bool,
    /// Whether tables of the inputs have columns that the snippet made of nothing of theirs.
    mixed: bool,
    /// Whether tables of the inputs have columns of other names.
    widened: bool,
    /// Whether an index may say where a row stands.
    indexed: bool,
    /// Lists that the text writes out, by their sites.
    short: HashSet<u32>,
    /// Sites of tables whose columns are named by values.
    unnamed: HashSet<u32>,
    /// Sites of tables some of whose rows got other values.
    thinned: HashSet<u32>,
    /// Whether columns may have other names than the pass knows.
    open: bool,
    /// Loops around what is looked at.
    loops: usize,
    /// Within branches and loops, a name keeps what it had.
    weak: usize,
    /// Whether something grew that was used before, and whether a name of this round did.
    changed: bool,
    grew: bool,
    steps: u32,
    depth: usize,
    tangled: bool,
    exits: BTreeMap<(Way, usize), (String, Value<'a>)>,
    altering: alters::Alters<'a>,
    /// Columns that are picked, by offset.
    picked: BTreeSet<(usize, usize)>,
    /// Where columns of an input are picked by a computed name.
    computed: BTreeSet<(usize, usize)>,
}

/// The flows of a snippet; nothing if it has no inputs.
pub(super) fn flows<'a>(
    body: &'a [Stmt],
    policy: &Policy,
    setting: &'a Setting,
    facts: &'a Facts,
    text: &'a str,
) -> Flows {
    let mut names: Vec<&'a str> = setting.values.keys().map(String::as_str).collect();
    for name in setting.inputs.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Flows::default();
    }
    let writes = facts.uses.get(&Capability::FsWrite);
    let writes = writes.into_iter().flat_map(|used| &used.details);
    let writes = writes.flat_map(|(detail, offsets)| {
        let subject = detail.split(", ").next().unwrap_or(detail);
        let name = subject.rsplit('.').next().unwrap_or(subject);
        offsets.iter().map(move |at| (*at, name.to_owned()))
    });
    let writes = writes.collect();
    let mut pass = Pass::new(policy.contract, names, setting, writes, &facts.evaluated);
    pass.text = text;
    for _ in 0..ROUNDS {
        pass.changed = false;
        pass.begin();
        pass.body(body);
        pass.uncalled();
        if !pass.changed || pass.tangled {
            break;
        }
    }
    pass.tangled |= pass.changed;
    pass.finish(body, &Source::new(text))
}

impl<'a> Pass<'a> {
    fn new(
        contract: Contract,
        inputs: Vec<&'a str>,
        setting: &'a Setting,
        writes: HashMap<usize, String>,
        evaluated: &'a BTreeMap<usize, (String, String)>,
    ) -> Self {
        let mut columns = Vec::new();
        let mut by_name: HashMap<&'a str, Vec<usize>> = HashMap::new();
        for (input, name) in inputs.iter().enumerate() {
            let known = setting.values.get(*name).filter(|v| !v.columns.is_empty());
            for column in known.map(|v| &v.columns).into_iter().flatten() {
                by_name.entry(&column.name).or_default().push(columns.len());
                let number = ["int", "uint", "float", "bool"];
                columns.push(Column {
                    input,
                    name: Some(&column.name),
                    text: !number.iter().any(|kind| column.dtype.starts_with(kind)),
                });
            }
            if known.is_none() {
                columns.push(Column {
                    input,
                    name: None,
                    text: true,
                });
            }
        }
        let imports = [("pd", "pandas"), ("np", "numpy")];
        let imports = imports.map(|(name, path)| (Cow::Borrowed(name), path.to_owned()));
        Self {
            contract,
            text: "",
            inputs,
            columns,
            by_name,
            imports: imports.into(),
            writes,
            frames: Vec::new(),
            funcs: Vec::new(),
            func_at: HashMap::new(),
            methods: HashMap::new(),
            derived: HashMap::new(),
            stored: HashSet::new(),
            results: HashMap::new(),
            missed: HashSet::new(),
            derived_any: Value::default(),
            attrs: HashMap::new(),
            heap: HashMap::new(),
            left: HashMap::new(),
            ever: HashMap::new(),
            asked: HashSet::new(),
            views: HashMap::new(),
            touched: Value::default(),
            written: Value::default(),
            named: Value::default(),
            counted: Vec::new(),
            sweeps: 0,
            jumped: Value::default(),
            choices: choices::Choices::default(),
            unseen: None,
            here: 0,
            evaluated,
            own: HashSet::new(),
            makers: HashSet::new(),
            caches: HashSet::new(),
            of_classes: HashSet::new(),
            of_texts: HashSet::new(),
            classes: HashSet::new(),
            own_any: false,
            typed: false,
            mixed: false,
            widened: false,
            indexed: false,
            short: HashSet::new(),
            unnamed: HashSet::new(),
            thinned: HashSet::new(),
            open: false,
            loops: 0,
            weak: 0,
            changed: false,
            grew: false,
            steps: 0,
            depth: 0,
            tangled: false,
            exits: BTreeMap::new(),
            altering: alters::Alters::default(),
            picked: BTreeSet::new(),
            computed: BTreeSet::new(),
        }
    }

    /// The names as they are before the first statement.
    fn begin(&mut self) {
        let mut frame = Frame::default();
        for at in 0..self.inputs.len() {
            let name = self.inputs[at];
            frame.names.insert(Cow::Borrowed(name), self.input(at));
        }
        self.frames = vec![frame];
    }

    fn input(&self, at: usize) -> Value<'a> {
        let mut value = Value::default();
        let mut plain = true;
        for (id, column) in self.columns.iter().enumerate() {
            if column.input == at {
                value.as_is.set(id);
                plain &= column.name.is_some();
            }
        }
        value.sites = vec![u32::MAX - 2 - number(at)];
        match plain {
            true => value
                .with(PLAIN | TABLE | value::WHOLE | value::FRAME | value::KIND | value::ORIGIN),
            false => value,
        }
    }

    /// Everything that the run is given.
    fn everything(&self) -> Value<'a> {
        let mut value = Value::default();
        (0..self.columns.len()).for_each(|id| value.as_is.set(id));
        value
    }

    /// Whether the pass may go on.
    fn step(&mut self) -> bool {
        self.steps += 1;
        self.tangled |= self.steps > STEPS;
        !self.tangled
    }

    /// Notes that columns may have other names than the pass knows.
    fn opens(&mut self) {
        self.changed |= !self.open;
        self.open = true;
    }

    /// Notes that values may pass unseen from here.
    fn loses_sight(&mut self, at: usize) {
        self.unseen = Some(self.unseen.map_or(at, |known| known.min(at)));
    }

    /// Notes that any name may be read unseen.
    fn loses_all(&mut self, at: usize) {
        let all = self.everything();
        self.touches(&all);
        self.loses_sight(at);
    }

    fn store_attr(&mut self, name: Cow<'a, str>, value: &Value<'a>) {
        match self.attrs.get_mut(&name) {
            Some(known) => self.changed |= known.join(value),
            None => {
                self.changed |= !value.is_nothing();
                self.attrs.insert(name.clone(), value.clone());
            }
        }
        self.changed |= self.own.insert(name);
    }

    /// The value, and what the loops around it count.
    fn counted(&self, mut value: Value<'a>) -> Value<'a> {
        for by in &self.counted {
            let texts = value.texts.take();
            value.join(by);
            value.texts = texts;
        }
        self.chosen(&mut value);
        value
    }

    fn leaves(&mut self, to: Way, at: usize, what: &str, value: &Value<'a>) {
        let value = self.counted(self.whole(value).told()).told().held();
        if to == Way::File {
            self.changed |= self.written.join(&value.held().without(PLAIN | TABLE));
        }
        match self.exits.get_mut(&(to, at)) {
            Some((_, known)) => {
                known.join(&value);
            }
            None => drop(self.exits.insert((to, at), (what.to_owned(), value))),
        }
    }

    fn finish(mut self, body: &'a [Stmt], source: &Source<'_>) -> Flows {
        if self.contract == Contract::Feature {
            let mut made = self.derived_any.clone();
            self.derived.values().for_each(|v| {
                made.join(v);
            });
            let end = body.last().map_or(0, |s| {
                use super::parse::ast::Ranged;
                s.range().start().to_usize()
            });
            self.leaves(Way::Value, end, "df", &made);
        }
        let all = match self.unseen {
            _ if self.tangled => Some((0, self.everything())),
            unseen => unseen.map(|at| (at, self.touched.bared())),
        };
        if let Some((at, all)) = all {
            for (at, what) in std::mem::take(&mut self.writes) {
                self.leaves(Way::File, at, &what, &all);
            }
            self.exits.values_mut().for_each(|v| {
                v.1.join(&all);
            });
            if self.tangled || !self.exits.keys().any(|(to, _)| *to == Way::Output) {
                self.leaves(Way::Output, at, "print", &all);
            }
        }
        let twice = self.shown_twice();
        let mut exits: Vec<(usize, Leaves)> = self
            .exits
            .iter()
            .map(|((to, at), (what, value))| {
                let leaves = Leaves {
                    to: *to,
                    line: source.line(*at),
                    what: what.clone(),
                    shares: self.shares(value, &twice),
                };
                (*at, leaves)
            })
            .collect();
        exits.sort_by_key(|(at, _)| *at);
        Flows {
            exits: exits.into_iter().map(|(_, leaves)| leaves).collect(),
            reads: self.reads(source),
            alters: self.altered(source),
            lost: self.unseen.map(|at| source.line(at)),
            tangled: self.tangled,
            ..Flows::default()
        }
    }

    fn shares(&self, value: &Value<'a>, twice: &Held) -> Vec<Share> {
        let share = |(at, input): (usize, &&str)| {
            let held = &value.as_is;
            let mine = |id: &usize| self.columns[*id].input == at;
            let coarse = |id: &usize| held.place(*id).is_some() && !twice.has(*id);
            let (rows, as_is): (Vec<usize>, Vec<usize>) =
                held.iter().filter(mine).partition(coarse);
            let summed = value.summed.iter().filter(|id| !held.has(*id));
            let summed: Vec<usize> = summed.filter(mine).collect();
            let name = |id: &usize| self.columns[*id].name.map(super::text::shown);
            let all = self
                .columns
                .iter()
                .filter(|c| c.input == at && c.name.is_some());
            let any = !(as_is.is_empty() && rows.is_empty() && summed.is_empty());
            any.then(|| Share {
                input: (*input).to_owned(),
                as_is: as_is.iter().filter_map(name).collect(),
                rows: rows.iter().filter_map(name).collect(),
                summed: summed.iter().filter_map(name).collect(),
                of: all.count(),
            })
        };
        self.inputs.iter().enumerate().filter_map(share).collect()
    }

    fn reads(&self, source: &Source<'_>) -> Vec<ColumnRead> {
        let lines = |mut lines: Vec<u32>| {
            lines.sort_unstable();
            lines.dedup();
            lines
        };
        let mut picked: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (id, at) in &self.picked {
            picked.entry(*id).or_default().push(source.line(*at));
        }
        let read = |(at, input): (usize, &&str)| {
            let mine = picked
                .iter()
                .filter(|(id, _)| self.columns[**id].input == at);
            let named = mine.filter_map(|(id, at)| {
                let name = super::text::shown(self.columns[*id].name?);
                Some((name, lines(at.clone())))
            });
            let computed = self.computed.iter().filter(|(input, _)| *input == at);
            ColumnRead {
                input: (*input).to_owned(),
                columns: named.collect(),
                computed: lines(computed.map(|(_, at)| source.line(*at)).collect()),
            }
        };
        self.inputs.iter().enumerate().map(read).collect()
    }

    /// A new value that is made here.
    fn made(at: usize) -> Value<'a> {
        Value {
            sites: vec![number(at)],
            ..Value::default()
        }
    }

    /// The value of literal texts.
    fn literal(text: &'a str) -> Value<'a> {
        Value {
            texts: Some(vec![text]),
            ..Value::default()
        }
    }

    fn figures() -> Value<'a> {
        Value {
            sites: vec![FIGURES],
            flags: value::FIGURE,
            ..Value::default()
        }
    }

    /// An element of a value.
    fn element(value: &Value<'a>) -> Value<'a> {
        let texts = value.texts.clone().filter(|_| value.has(LIST));
        let mut out = value
            .clone()
            .without(LIST | value::GROUPED | FRAME | value::FIXED)
            .opened();
        if !value.has(value::GROUPED) && !value.is_bare() {
            out = out.with(SINGLE).without(value::WHOLE);
        }
        // A part of a value, or a key.
        if value.has(SINGLE | value::GROUPED) {
            out = out.without(value::ORIGIN);
        }
        out.texts = texts;
        out
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(ANY)
}
