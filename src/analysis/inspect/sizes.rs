//! Sizes: literals that request too much. They are only flagged, because memory and time are
//! limited during the run.

use super::Inspector;
use super::calls::Arguments;
use super::loops::STEPS;
use super::shapes::{self, Looks};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;

/// The number of bits above which computing or printing an integer takes noticeable time.
const BITS: f64 = 131_072.0;
/// The limit on elements of a list or characters of a text.
const ELEMENTS: f64 = 1e8;
/// The limit on digits of a decimal number.
const DIGITS: f64 = 1e7;

impl<'a> Inspector<'a> {
    pub(super) fn arithmetic(&mut self, x: &'a ast::ExprBinOp) {
        if x.op == Operator::Mod
            && let [Val::Text(text)] = self.r.eval(&x.left, self.here()).as_slice()
            && (is_wide(text, '%')
                || (text.contains('*')
                    && matches!(&*x.right, Expr::Tuple(values)
                        if values.elts.iter().any(|e| self.number(e).is_some_and(|n| n > ELEMENTS)))))
        {
            self.add(&rules::DOS_LITERAL, x.range(), "");
            return;
        }
        if self.huge(x.op, &x.left, &x.right) {
            self.add(&rules::DOS_LITERAL, x.range(), "");
        }
    }

    /// `x **= 10**9`: the right side suffices even if `x` is unknown.
    pub(super) fn augmented(&mut self, x: &'a ast::StmtAugAssign) {
        let Some(n) = self.number(&x.value) else {
            return;
        };
        let huge = match x.op {
            Operator::Pow | Operator::LShift => n > BITS,
            Operator::Mult => {
                n > ELEMENTS
                    && self
                        .r
                        .eval(&x.target, self.here())
                        .iter()
                        .any(|v| matches!(v, Val::Text(_) | Val::ComputedText | Val::Items(..)))
            }
            _ => false,
        };
        if huge {
            self.add(&rules::DOS_LITERAL, x.range(), "");
        }
    }

    fn huge(&self, op: Operator, left: &'a Expr, right: &'a Expr) -> bool {
        match op {
            Operator::Pow => self.huge_power(left, right),
            Operator::LShift => self.number(right).is_some_and(|n| n > BITS),
            Operator::Mult => {
                let repeated = |sequence: &'a Expr, times: &'a Expr| {
                    self.number(times).is_some_and(|times| {
                        times > 1_000.0
                            && self
                                .length(sequence)
                                .is_some_and(|length| length.max(1.0) * times > ELEMENTS)
                    })
                };
                repeated(left, right) || repeated(right, left)
            }
            Operator::Add
            | Operator::Sub
            | Operator::MatMult
            | Operator::Div
            | Operator::Mod
            | Operator::RShift
            | Operator::BitOr
            | Operator::BitXor
            | Operator::BitAnd
            | Operator::FloorDiv => false,
        }
    }

    fn huge_power(&self, base: &'a Expr, exponent: &'a Expr) -> bool {
        match (self.number(base), self.number(exponent)) {
            (Some(base), Some(exponent)) => base.abs() > 1.0 && base.abs().log2() * exponent > BITS,
            _ => false,
        }
    }

    pub(super) fn sized_builtin(&mut self, name: &str, arguments: Arguments<'a>, at: TextRange) {
        let first = |s: &Self| arguments.positional(0).and_then(|e| s.number(e));
        let huge = match name {
            "bytes" | "bytearray" => first(self).is_some_and(|n| n > ELEMENTS),
            "range" => {
                let last = arguments
                    .positional(1)
                    .or_else(|| arguments.positional(0))
                    .and_then(|e| self.number(e));
                let steps = self.counted(arguments.call);
                steps.is_some_and(|n| n > STEPS) || last.is_some_and(|n| n > STEPS)
            }
            "list" | "tuple" | "set" | "frozenset" | "sorted" | "sum" | "max" | "min" => arguments
                .positional(0)
                .is_some_and(|e| self.range_length(e).is_some_and(|n| n > ELEMENTS)),
            "pow" if arguments.count() == 2 => {
                match (arguments.positional(0), arguments.positional(1)) {
                    (Some(base), Some(exponent)) => self.huge_power(base, exponent),
                    _ => false,
                }
            }
            "format" => arguments.positional(1).is_some_and(|e| {
                matches!(self.r.eval(e, self.here()).as_slice(), [Val::Text(t)] if has_width(t))
            }),
            _ => false,
        };
        if huge {
            self.add(&rules::DOS_LITERAL, at, name.to_owned());
        }
        self.collects(name, arguments, at);
    }

    /// Reports arrays larger than the policy's memory limit, at eight bytes per number.
    pub(super) fn sized_member(&mut self, path: &str, arguments: Arguments<'a>, at: TextRange) {
        let long = matches!(path, "itertools.repeat" | "itertools.islice")
            && self.counted(arguments.call).is_some_and(|n| n > STEPS);
        if long || self.too_many(path, arguments) {
            self.add(&rules::DOS_LITERAL, at, path.to_owned());
        }
        self.collects(path, arguments, at);
    }

    fn too_many(&self, path: &str, arguments: Arguments<'a>) -> bool {
        let at = |i: usize| arguments.positional(i).and_then(|e| self.number(e));
        let named = |name: &str| arguments.keyword(&[name]).and_then(|e| self.number(e));
        let both = |op: Operator| {
            matches!(
                (arguments.positional(0), arguments.positional(1)),
                (Some(a), Some(b)) if self.huge(op, a, b)
            )
        };
        let elements = match path {
            "random.choices" => named("k"),
            "random.randbytes" => at(0),
            "random.getrandbits" => at(0).map(|bits| bits / 64.0),
            "time.sleep" => return at(0).is_some_and(|n| n > 3_600.0),
            "itertools.product"
            | "itertools.permutations"
            | "itertools.combinations"
            | "itertools.combinations_with_replacement" => {
                return self
                    .arrangements(path, arguments)
                    .is_some_and(|n| n > STEPS);
            }
            "math.factorial" => return at(0).is_some_and(|n| n > 20_000.0),
            "math.perm" | "math.comb" => {
                let chosen = match (at(0), at(1)) {
                    (Some(n), Some(k)) if path == "math.comb" => k.min(n - k),
                    (Some(n), k) => k.unwrap_or(n),
                    _ => return false,
                };
                return chosen > 20_000.0;
            }
            "operator.pow" => return both(Operator::Pow),
            "operator.lshift" => return at(1).is_some_and(|n| n > BITS),
            "operator.mul" => return both(Operator::Mult),
            "decimal.Context" | "decimal.localcontext" => {
                return named("prec").is_some_and(|n| n > DIGITS);
            }
            // `broadcast_to` returns a view and allocates nothing; what is made from it counts.
            "numpy.broadcast_to" => return false,
            _ => self
                .made(path, arguments, &mut Looks::new())
                .map(|shape| shapes::elements(&shape)),
        };
        elements.is_some_and(|n| n > self.most())
    }

    /// The number of combinations that an `itertools` function returns.
    fn arrangements(&self, path: &str, arguments: Arguments<'a>) -> Option<f64> {
        let length = |e: &'a Expr| {
            let known = self.range_length(e).or_else(|| self.length(e));
            known.or_else(|| self.length(self.only_value(e)?))
        };
        if path == "itertools.product" {
            let repeat = arguments.keyword(&["repeat"]).and_then(|e| self.number(e));
            // An iterable of unknown length counts as two elements if the product is repeated,
            // otherwise as one.
            let all: f64 = arguments
                .call
                .args
                .iter()
                .map(|e| length(e).unwrap_or(if repeat.is_some() { 2.0 } else { 1.0 }))
                .product();
            return Some(all.powf(repeat.unwrap_or(1.0)));
        }
        let n = length(arguments.positional(0)?)?;
        let k = arguments
            .positional(1)
            .or_else(|| arguments.keyword(&["r"]))
            .and_then(|e| self.number(e))
            .unwrap_or(n)
            .min(1_000.0);
        let chosen = |n: f64, k: f64| {
            (0..10_000)
                .map(f64::from)
                .take_while(|i| *i < k)
                .map(|i| (n - i) / (i + 1.0))
                .product::<f64>()
        };
        Some(match path {
            "itertools.permutations" => (0..1_000)
                .map(f64::from)
                .take_while(|i| *i < k)
                .map(|i| (n - i).max(0.0))
                .product(),
            "itertools.combinations" => chosen(n, k.min((n - k).max(0.0))),
            _ => chosen(n + k - 1.0, k),
        })
    }

    /// Judges `decimal.getcontext().prec = n`.
    pub(super) fn precision(&mut self, attr: &str, value: &'a Expr, at: TextRange) {
        if attr == "prec" && self.number(value).is_some_and(|n| n > DIGITS) {
            self.add(&rules::DOS_LITERAL, at, "prec");
        }
    }

    /// Judges padding of texts and repetition of rows by a literal size.
    pub(super) fn padded(&mut self, method: &str, arguments: Arguments<'a>, at: TextRange) {
        let sized = matches!(
            method,
            "zfill"
                | "ljust"
                | "rjust"
                | "center"
                | "expandtabs"
                | "repeat"
                | "resize"
                | "truncate"
                | "sample"
        );
        if sized
            && arguments
                .positional(0)
                .and_then(|e| self.product(e))
                .is_some_and(|n| n > ELEMENTS)
        {
            self.add(&rules::DOS_LITERAL, at, method.to_owned());
        }
    }

    /// Judges a keyword that is a number of elements in every call.
    pub(super) fn size_keyword(&mut self, e: &'a Expr, name: &str) {
        if self.product(e).is_some_and(|n| n > ELEMENTS * 10.0) {
            self.add(&rules::DOS_LITERAL, e.range(), name.to_owned());
        }
    }

    /// Judges an index that creates an array: `np.mgrid[0:10**10]`.
    pub(super) fn sized_index(&mut self, x: &'a ast::ExprSubscript) {
        let makes = self.r.eval(&x.value, self.here()).iter().any(|v| {
            matches!(v, Val::Member(p) if matches!(&**p, "numpy.mgrid" | "numpy.ogrid" | "numpy.r_" | "numpy.c_"))
        });
        if !makes {
            return;
        }
        let slices: &'a [Expr] = match &*x.slice {
            Expr::Tuple(several) => &several.elts,
            one => std::slice::from_ref(one),
        };
        let sides: f64 = slices
            .iter()
            .map(|e| self.slice_length(e).unwrap_or(1.0).max(1.0))
            .product();
        if sides > ELEMENTS * 10.0 {
            self.add(&rules::DOS_LITERAL, x.range(), "index");
        }
    }

    /// The length of `start:stop:step`; an imaginary step is the number of points.
    fn slice_length(&self, e: &'a Expr) -> Option<f64> {
        let Expr::Slice(x) = e else { return None };
        if let Some(Expr::Constant(c)) = x.step.as_deref()
            && let Constant::Complex { imag, .. } = c.value
        {
            return Some(imag);
        }
        let number = |e: &'a Option<Box<Expr>>| e.as_deref().and_then(|e| self.number(e));
        let step = number(&x.step).unwrap_or(1.0);
        Some((number(&x.upper)? - number(&x.lower).unwrap_or(0.0)) / step)
    }

    /// Judges `f"{x:>1000000000}"`.
    pub(super) fn format_width(&mut self, spec: &'a Expr, at: TextRange) {
        let Expr::JoinedStr(spec) = spec else { return };
        let wide = spec.values.iter().any(|e| match e {
            Expr::Constant(c) => matches!(&c.value, Constant::Str(t) if has_width(t)),
            Expr::FormattedValue(x) => self.number(&x.value).is_some_and(|n| n > ELEMENTS),
            _ => false,
        });
        if wide {
            self.add(&rules::DOS_LITERAL, at, "width");
        }
    }

    /// Judges `"{:>1000000000}".format(x)`.
    pub(super) fn template_width(
        &mut self,
        template: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        // `"{:>{}}".format(x, 10**10)`: the width is an argument.
        let given = template.split(':').skip(1).any(|spec| spec.contains('{'))
            && arguments
                .call
                .args
                .iter()
                .chain(arguments.call.keywords.iter().map(|k| &k.value))
                .any(|e| self.number(e).is_some_and(|n| n > ELEMENTS));
        if given || is_wide(template, ':') {
            self.add(&rules::DOS_LITERAL, at, "width");
        }
    }
}

/// Whether a number after `mark` is too wide to be a real field width.
fn is_wide(text: &str, mark: char) -> bool {
    text.split(mark).skip(1).any(|field| {
        let end = field
            .find(|c: char| c.is_ascii_alphabetic() || c == '}')
            .unwrap_or(field.len());
        field.get(..end).is_some_and(has_width)
    })
}

/// Whether a format specification contains a number above [`ELEMENTS`].
fn has_width(spec: &str) -> bool {
    spec.split(|c: char| !c.is_ascii_digit())
        .any(|digits| digits.trim_start_matches('0').len() > 8)
}
