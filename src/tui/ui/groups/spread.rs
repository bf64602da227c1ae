//! The numbers in which the codes of a group differ: all of them in a few words, and the one that is far from the others.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::model::{ProposalId, Shape};

use super::super::super::text;

/// Numbers of one code that are compared; further ones that differ are only counted.
const NUMBERS: usize = 32;
/// As many times as wide as the others are apart, a number is far from them.
const FAR: f64 = 3.0;

/// The code that the others of a group are compared with.
#[derive(Debug)]
pub(super) struct Base {
    code: Arc<str>,
    spans: OnceCell<Vec<Range<usize>>>,
}

/// The numbers of one code that differ from the base's.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// By their place among the code's numbers.
    numbers: Vec<(usize, Number)>,
    more: usize,
}

/// A number as the code has it; ordered by its value.
#[derive(Clone, Debug)]
struct Number {
    value: f64,
    text: Box<str>,
}

impl Number {
    fn of(text: &str) -> Self {
        let digits = text.replace('_', "").to_ascii_lowercase();
        let radix = |prefix, radix| {
            let digits = digits.strip_prefix(prefix)?;
            u128::from_str_radix(digits, radix).ok()
        };
        let whole = radix("0x", 16)
            .or_else(|| radix("0o", 8))
            .or_else(|| radix("0b", 2));
        let value = whole.map_or_else(
            || digits.parse().unwrap_or(f64::INFINITY),
            |whole| whole as f64,
        );
        Self {
            value,
            text: text.into(),
        }
    }

    fn told(&self) -> String {
        match text::cut(&self.text, COLUMNS) {
            whole if whole.len() == self.text.len() => whole.to_owned(),
            cut => format!("{cut}…"),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let values = self.value.total_cmp(&other.value);
        values.then_with(|| self.text.cmp(&other.text))
    }
}

impl Base {
    pub fn new(code: &Arc<str>) -> Self {
        Self {
            code: code.clone(),
            spans: OnceCell::new(),
        }
    }

    fn spans(&self) -> &[Range<usize>] {
        self.spans
            .get_or_init(|| Shape::numbers_in(&self.code).unwrap_or_default())
    }

    /// What differs in a code of the same shape.
    pub fn unlike(&self, code: &str) -> Own {
        let mut own = Own::default();
        if *code == *self.code {
            return own;
        }
        let here = Shape::numbers_in(code).unwrap_or_default();
        for (place, (span, base)) in here.into_iter().zip(self.spans()).enumerate() {
            let (text, base) = (&code[span], &self.code[base.clone()]);
            if text == base {
                continue;
            }
            match own.numbers.len() < NUMBERS {
                true => own.numbers.push((place, Number::of(text))),
                false => own.more += 1,
            }
        }
        own
    }
}

/// All numbers that stand in one place of the codes: how many codes have each, and one of them.
type Values = BTreeMap<Number, (usize, ProposalId)>;

/// The numbers of a group by their place, without the base's.
#[derive(Debug, Default)]
pub(super) struct Spread {
    codes: usize,
    places: BTreeMap<usize, Values>,
    more: usize,
    /// A code that is the base's.
    plain: Option<ProposalId>,
}

/// How the codes of a group differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tui) struct Differs {
    /// The numbers in one place in their order, all of them or the least two and the greatest.
    pub numbers: Vec<String>,
    /// Whether some are left out before the last.
    pub cut: bool,
    /// The one among `numbers` that is far from the others, and whose it is.
    pub far: Option<(usize, ProposalId)>,
    /// How many more numbers differ in other places.
    pub more: usize,
}

/// Numbers that are told without leaving some out, and the columns of one.
const TOLD: usize = 3;
const COLUMNS: usize = 12;

impl Spread {
    pub fn add(&mut self, id: ProposalId, own: &Own) {
        self.codes += 1;
        self.more = self.more.max(own.more);
        if own.numbers.is_empty() && own.more == 0 {
            self.plain = Some(id);
        }
        for (place, number) in &own.numbers {
            let values = self.places.entry(*place).or_default();
            values.entry(number.clone()).or_insert((0, id)).0 += 1;
        }
    }

    /// `None` if nothing differs.
    pub fn differs(&self, base: &Base) -> Option<Differs> {
        let mut all: Vec<(Values, Option<Number>)> = Vec::new();
        for (place, others) in &self.places {
            let mut values = others.clone();
            let rest = self.codes - others.values().map(|(codes, _)| codes).sum::<usize>();
            if rest > 0 {
                let text = base
                    .spans()
                    .get(*place)
                    .map_or("", |span| &base.code[span.clone()]);
                let whose = self.plain.or_else(|| Some(others.values().next()?.1))?;
                values.insert(Number::of(text), (rest, whose));
            }
            if values.len() < 2 {
                continue;
            }
            let far = far(&values, self.codes);
            // One number can stand in several places.
            if !all.iter().any(|(known, _)| known.keys().eq(values.keys())) {
                all.push((values, far));
            }
        }
        let at = all.iter().position(|(_, far)| far.is_some()).unwrap_or(0);
        let (values, far) = all.get(at)?;
        let more = all.len() - 1 + self.more;
        let keys: Vec<&Number> = values.keys().collect();
        let cut = keys.len() > TOLD;
        let told: Vec<&Number> = match keys.as_slice() {
            [least, next, .., most] if cut => vec![least, next, most],
            _ => keys,
        };
        let far = far.as_ref().and_then(|far| {
            let whose = values.get(far)?.1;
            Some((told.iter().position(|number| *number == far)?, whose))
        });
        Some(Differs {
            numbers: told.iter().map(|number| number.told()).collect(),
            cut,
            far,
            more,
        })
    }
}

/// The least or the greatest number that one code alone has and that is far from all others, or the only other one.
fn far(values: &Values, codes: usize) -> Option<Number> {
    let alone = |number: &&Number| values[*number].0 == 1;
    let mut keys = values.keys();
    let (least, most) = (keys.next()?, keys.next_back()?);
    let Some(second) = keys.next() else {
        let one = [least, most].into_iter().find(alone)?;
        return (codes > 2).then(|| one.clone());
    };
    let last = keys.next_back().unwrap_or(second);
    let below = (second.value - least.value) > FAR * (most.value - second.value);
    let above = (most.value - last.value) > FAR * (last.value - least.value);
    match (above, below) {
        (true, _) => Some(most).filter(alone).cloned(),
        (false, true) => Some(least).filter(alone).cloned(),
        (false, false) => None,
    }
}
