//! The shape of the array or table that a library call returns, and the largest array it needs on
//! the way. A non-literal argument leaves the shape unknown.

use super::Inspector;
use super::calls::Arguments;
use super::shapes::{self, Looks, Shape, broadcast, elements};
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::resolve::Val;

/// Frequency units as pandas writes them, in seconds.
const UNITS: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
];

const YEAR: f64 = 31_556_952.0;

impl<'a> Inspector<'a> {
    /// The shape of the call's result.
    pub(super) fn made(
        &self,
        path: &str,
        arguments: Arguments<'a>,
        looks: &mut Looks,
    ) -> Option<Shape> {
        let Some((library, name)) = path.split_once('.') else {
            return self.made_of_builtin(path, arguments, looks);
        };
        match library {
            "numpy" => {
                let name = name.strip_prefix("ma.").unwrap_or(name);
                self.made_of_sizes(name, arguments, looks)
                    .or_else(|| self.made_of_arrays(name, arguments, looks))
            }
            "pandas" => self.table(name, arguments, looks),
            "scipy" => self.matrix(name, arguments, looks),
            "sklearn" => self.samples(name, arguments, looks),
            _ => None,
        }
    }

    fn made_of_builtin(
        &self,
        name: &str,
        arguments: Arguments<'a>,
        looks: &mut Looks,
    ) -> Option<Shape> {
        match name {
            "range" => Some(vec![self.counted(arguments.call)?]),
            "list" | "tuple" | "sorted" | "reversed" => self.shape(arguments.positional(0)?, looks),
            _ => None,
        }
    }

    /// numpy functions that take a size.
    fn made_of_sizes(
        &self,
        name: &str,
        arguments: Arguments<'a>,
        looks: &mut Looks,
    ) -> Option<Shape> {
        let at = |i: usize| arguments.positional(i).and_then(|e| self.number(e));
        let sides = |i: usize, names: &[&str]| self.sides(arguments.given(i, names)?);
        let several =
            |i: usize, names: &[&str]| Some(vec![self.number(arguments.given(i, names)?)?]);
        match name {
            "zeros" | "ones" | "empty" | "full" | "ndarray" => sides(0, &["shape"]),
            "zeros_like" | "ones_like" | "empty_like" | "full_like" => {
                sides(usize::MAX, &["shape"])
            }
            "indices" => sides(0, &["dimensions"]),
            "resize" => sides(1, &["new_shape"]),
            "fromfunction" | "broadcast_to" => sides(1, &["shape"]),
            "hanning" | "hamming" | "blackman" | "bartlett" | "kaiser" => several(0, &["M"]),
            "char.multiply" | "strings.multiply" => several(1, &["i"]),
            "linspace" | "logspace" | "geomspace" => several(2, &["num"]),
            "histogram" | "histogram_bin_edges" => several(1, &["bins"]),
            "histogram2d" => several(2, &["bins"]).map(|bins| [bins.clone(), bins].concat()),
            "fft.fft" | "fft.ifft" | "fft.rfft" | "fft.irfft" | "fft.hfft" | "fft.ihfft"
            | "fft.fftfreq" | "fft.rfftfreq" => {
                several(usize::from(!name.ends_with("freq")), &["n"])
            }
            "fft.fft2" | "fft.ifft2" | "fft.fftn" | "fft.ifftn" | "fft.rfftn" | "fft.irfftn" => {
                sides(1, &["s"])
            }
            "pad" => {
                let width = arguments.given(1, &["pad_width"])?;
                Some(vec![self.largest_within(width, looks)?])
            }
            "arange" => {
                let (start, stop) = match at(1) {
                    Some(stop) => (at(0).unwrap_or(0.0), stop),
                    None => (0.0, at(0)?),
                };
                Some(vec![((stop - start) / at(2).unwrap_or(1.0)).abs()])
            }
            "eye" | "identity" | "tri" | "triu_indices" | "tril_indices" | "mask_indices" => {
                let n = at(0)?;
                Some(vec![n, at(1).filter(|_| name != "identity").unwrap_or(n)])
            }
            "bincount" => several(2, &["minlength"]).or_else(|| {
                // The result has as many elements as the largest number in the argument.
                Some(vec![self.largest_within(arguments.positional(0)?, looks)?])
            }),
            "random.rand" | "random.randn" => {
                arguments.call.args.iter().map(|e| self.number(e)).collect()
            }
            "random.choice" => sides(1, &["size"]).or_else(|| at(0).map(|n| vec![n])),
            other => sides(size_of(other.strip_prefix("random.")?), &["size", "shape"]),
        }
    }

    /// numpy functions that take arrays.
    fn made_of_arrays(
        &self,
        name: &str,
        arguments: Arguments<'a>,
        looks: &mut Looks,
    ) -> Option<Shape> {
        let number = |i: usize| arguments.positional(i).and_then(|e| self.number(e));
        let mut of = |i: usize| self.shape(arguments.positional(i)?, looks);
        Some(match name {
            "array" | "asarray" | "ascontiguousarray" | "copy" | "abs" | "sqrt" | "exp" | "log"
            | "sin" | "cos" | "stack" => of(0)?,
            "concatenate" | "hstack" | "vstack" | "column_stack" | "ravel" => {
                vec![elements(&of(0)?)]
            }
            "add" | "subtract" | "multiply" | "divide" | "true_divide" | "power" | "maximum"
            | "minimum" | "hypot" | "arctan2" | "equal" | "not_equal" | "less" | "less_equal"
            | "greater" | "greater_equal" | "logical_and" | "logical_or" => {
                let left = of(0);
                broadcast(left, of(1))?
            }
            "where" => {
                let first = broadcast(of(0), of(1));
                broadcast(first, of(2))?
            }
            "outer" => vec![elements(&of(0)?), elements(&of(1)?)],
            "kron" => vec![elements(&of(0)?) * elements(&of(1)?)],
            "dot" | "matmul" => shapes::multiplied(&of(0)?, &of(1)?)?,
            "inner" => vec![of(0)?.first()? * of(1)?.first()?],
            "diag" => match of(0)?.as_slice() {
                [n] => vec![*n, *n],
                _ => return None,
            },
            "diagflat" => {
                let n = elements(&of(0)?);
                vec![n, n]
            }
            "vander" => {
                let n = elements(&of(0).unwrap_or_else(|| vec![1.0]));
                vec![n, number(1).unwrap_or(n)]
            }
            "repeat" | "tile" => {
                let one = of(0).unwrap_or_default();
                let times = self.product(arguments.positional(1)?)?;
                vec![elements(&one) * times]
            }
            "meshgrid" if arguments.keyword(&["sparse"]).is_none() => {
                let sides: Vec<f64> = (0..arguments.count())
                    .map(|i| of(i).map(|shape| elements(&shape)))
                    .collect::<Option<_>>()?;
                sides
            }
            "einsum" => self.summed(arguments, looks)?,
            _ => match name.strip_suffix(".outer") {
                Some(_) => {
                    let left = of(0)?;
                    [left, of(1)?].concat()
                }
                None => return None,
            },
        })
    }

    /// The shape of `einsum("i,j->ij", a, b)`.
    fn summed(&self, arguments: Arguments<'a>, looks: &mut Looks) -> Option<Shape> {
        let given = self.r.eval(arguments.positional(0)?, self.here());
        let [Val::Text(text)] = given.as_slice() else {
            return None;
        };
        let (inputs, output) = text.split_once("->")?;
        let mut sides = std::collections::HashMap::new();
        for (i, letters) in inputs.split(',').enumerate() {
            let shape = self.shape(arguments.positional(i + 1)?, looks)?;
            sides.extend(letters.trim().chars().zip(shape));
        }
        output
            .trim()
            .chars()
            .map(|c| sides.get(&c).copied())
            .collect()
    }

    /// pandas functions.
    fn table(&self, name: &str, arguments: Arguments<'a>, looks: &mut Looks) -> Option<Shape> {
        let at = |i: usize| arguments.positional(i).and_then(|e| self.number(e));
        let named = |names: &[&str], looks: &mut Looks| {
            let shape = self.shape(arguments.keyword(names)?, looks)?;
            shape.first().copied()
        };
        match name {
            "RangeIndex" => Some(vec![match at(1) {
                Some(stop) => stop - at(0).unwrap_or(0.0),
                None => at(0)?,
            }]),
            "Series" | "Index" | "array" => match named(&["index"], looks) {
                Some(rows) => Some(vec![rows]),
                None => self.shape(arguments.positional(0)?, looks),
            },
            "DataFrame" => {
                let rows = named(&["index"], looks);
                match (rows, named(&["columns"], looks), arguments.positional(0)) {
                    (Some(rows), Some(columns), _) => Some(vec![rows, columns]),
                    (Some(rows), None, _) => Some(vec![rows]),
                    (None, _, Some(Expr::Dict(x))) => {
                        let rows = self.shape(x.values.first()?, looks)?;
                        #[allow(clippy::cast_precision_loss)]
                        Some(vec![*rows.first()?, x.values.len() as f64])
                    }
                    (None, _, Some(data)) => self.shape(data, looks),
                    _ => None,
                }
            }
            "MultiIndex.from_product" => match arguments.positional(0)? {
                Expr::List(ast::ExprList { elts, .. })
                | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                    let sides = elts.iter().map(|e| Some(*self.shape(e, looks)?.first()?));
                    Some(vec![sides.product::<Option<f64>>()?])
                }
                _ => None,
            },
            "merge" if self.is_crossed(arguments) => {
                let left = self.shape(arguments.positional(0)?, looks)?;
                shapes::crossed(&left, &self.shape(arguments.positional(1)?, looks)?)
            }
            "concat" => Some(vec![elements(
                &self.shape(arguments.positional(0)?, looks)?,
            )]),
            "date_range" | "period_range" | "timedelta_range" | "bdate_range"
            | "interval_range" => {
                let periods = arguments.given(2, &["periods"]);
                match periods.and_then(|e| self.number(e)) {
                    Some(n) => Some(vec![n]),
                    None => Some(vec![self.moments(arguments)?]),
                }
            }
            _ => None,
        }
    }

    /// The number of moments between two dates, estimated from their years.
    fn moments(&self, arguments: Arguments<'a>) -> Option<f64> {
        let text = |names: &[&str], i: usize| {
            let given = arguments.given(i, names)?;
            match self.r.eval(given, self.here()).as_slice() {
                [Val::Text(text)] => Some(text.to_string()),
                _ => None,
            }
        };
        let year = |text: String| text.get(..4)?.parse::<f64>().ok();
        let years = year(text(&["end"], 1)?)? - year(text(&["start"], 0)?)?;
        let freq = text(&["freq"], 3).unwrap_or_else(|| "d".to_owned());
        let digits = freq
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(freq.len());
        let (count, unit) = freq.split_at(digits);
        let unit = unit.to_ascii_lowercase();
        let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
        Some(years * YEAR / (seconds * count.parse::<f64>().unwrap_or(1.0)))
    }

    /// scipy functions that build a matrix from a number or from one side.
    fn matrix(&self, name: &str, arguments: Arguments<'a>, looks: &mut Looks) -> Option<Shape> {
        let at = |i: usize| arguments.positional(i).and_then(|e| self.number(e));
        match name {
            "sparse.eye" | "sparse.identity" => Some(vec![at(0)?]),
            "linalg.hilbert" | "linalg.invhilbert" | "linalg.pascal" | "linalg.hadamard"
            | "linalg.dft" | "linalg.helmert" => Some(vec![at(0)?, at(0)?]),
            "linalg.toeplitz" | "linalg.hankel" | "linalg.circulant" => {
                let n = elements(&self.shape(arguments.positional(0)?, looks)?);
                Some(vec![n, n])
            }
            "spatial.distance.cdist" => self.pairs(arguments, looks),
            "spatial.distance.pdist" => {
                let rows = *self.shape(arguments.positional(0)?, looks)?.first()?;
                Some(vec![rows * (rows - 1.0) / 2.0])
            }
            _ => None,
        }
    }

    /// scikit-learn functions that generate data sets or compute the distances of all pairs.
    fn samples(&self, name: &str, arguments: Arguments<'a>, looks: &mut Looks) -> Option<Shape> {
        if let Some(kind) = name.strip_prefix("datasets.make_") {
            let number = |i: usize, names: &[&str]| self.number(arguments.given(i, names)?);
            let rows = number(0, &["n_samples"])?;
            let columns = match kind {
                "classification" | "regression" | "blobs" | "friedman1" => {
                    number(1, &["n_features"])
                }
                _ => None,
            };
            return Some(vec![rows, columns.unwrap_or(1.0)]);
        }
        let kind = name.strip_prefix("metrics.")?;
        let kind = kind.strip_prefix("pairwise.").unwrap_or(kind);
        (kind.starts_with("pairwise_distances")
            || kind.ends_with("_kernel")
            || kind.ends_with("_distances"))
        .then(|| self.pairs(arguments, looks))?
    }

    /// Every row of one array paired with every row of the other, or of itself.
    fn pairs(&self, arguments: Arguments<'a>, looks: &mut Looks) -> Option<Shape> {
        let rows = *self.shape(arguments.positional(0)?, looks)?.first()?;
        let others = match arguments.positional(1) {
            Some(other) => *self.shape(other, looks)?.first()?,
            None => rows,
        };
        Some(vec![rows, others])
    }

    /// The largest number in nested literals.
    fn largest_within(&self, e: &'a Expr, looks: &mut Looks) -> Option<f64> {
        looks.spend()?;
        match e {
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                let numbers = elts.iter().filter_map(|e| self.largest_within(e, looks));
                numbers.reduce(f64::max)
            }
            Expr::Call(call) => match self.r.eval(&call.func, self.here()).as_slice() {
                [Val::Member(path)] if matches!(&**path, "numpy.array" | "numpy.asarray") => {
                    self.largest_within(call.args.first()?, looks)
                }
                _ => None,
            },
            Expr::Name(_) => match self.only_value(e) {
                Some(value @ (Expr::List(_) | Expr::Tuple(_) | Expr::Call(_))) => {
                    self.largest_within(value, looks)
                }
                _ => self.number(e),
            },
            other => self.number(other),
        }
    }
}

/// The position of the argument `size` in calls of `numpy.random`.
fn size_of(name: &str) -> usize {
    match name {
        "random"
        | "random_sample"
        | "ranf"
        | "sample"
        | "standard_normal"
        | "standard_exponential"
        | "standard_cauchy"
        | "permutation"
        | "bytes" => 0,
        "exponential" | "poisson" | "choice" | "weibull" | "power" | "pareto" | "rayleigh"
        | "geometric" | "chisquare" | "standard_gamma" | "standard_t" | "dirichlet" => 1,
        "triangular" | "hypergeometric" | "noncentral_f" => 3,
        _ => 2,
    }
}
