//! Library calls that reach files, networks, pickles or an evaluator, by path and by method name.
//!
//! This is knowledge, not policy: each entry says what the call does and which argument decides.

mod table;

use super::library::library;
use table::Row;

/// The effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Read,
    Write,
    /// Reads a file, and unpickles it if asked to.
    NumpyLoad,
    /// Takes a path or an object in memory; a text that is not a path is data.
    ReadPathOrText,
    /// Runs whatever code the bytes contain.
    Unpickle,
    Pickle,
    Network,
    Database,
    Clipboard,
    /// Evaluates its text argument as an expression.
    Query,
    /// Evaluates its text argument as a model formula (patsy).
    Formula,
    /// Imports the module that its text argument names.
    Backend,
    /// Applies a style sheet: a name, a file or a URL.
    Style,
    Exec,
    Native,
    ReadsSystem,
    ChangesSystem,
    /// Sets the option that its text argument names.
    Option,
    /// `df.agg("name")`: calls the method of that name.
    ByName,
    /// Runs a template engine.
    Template,
    /// Saves a file; a name with a pickle's ending makes it a pickle.
    Save,
    Copies,
}

/// One library call.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub effect: Effect,
    /// The position of the deciding argument.
    pub index: usize,
    /// The keywords of the deciding argument.
    pub names: &'static [&'static str],
}

const fn of(effect: Effect, index: usize, names: &'static [&'static str]) -> Entry {
    Entry {
        effect,
        index,
        names,
    }
}

/// The entry for a callee's path. A submodule may re-export functions of its package
/// (`numpy.matlib.load`), which count as the package's own.
pub fn member(path: &str) -> Option<Entry> {
    exact(path).or_else(|| {
        let (module, name) = path.rsplit_once('.')?;
        let (top, _) = module.split_once('.')?;
        let class = module
            .rsplit('.')
            .next()
            .is_some_and(|last| last.starts_with(char::is_uppercase));
        if class {
            return None;
        }
        match top {
            "numpy" | "pandas" | "pyarrow" | "seaborn" | "matplotlib" => {
                exact(&format!("{top}.{name}"))
            }
            _ => None,
        }
    })
}

fn exact(path: &str) -> Option<Entry> {
    look_up(table::MEMBERS, path).or_else(|| by_pattern(path))
}

/// The entry for a whole family of paths, if no row names the path.
fn by_pattern(path: &str) -> Option<Entry> {
    if let Some(rest) = path.strip_prefix("statsmodels.formula.api.") {
        return (!rest.contains('.')).then_some(of(Effect::Formula, 0, &["formula"]));
    }
    if path.starts_with("scipy.datasets.") {
        return Some(of(Effect::Network, 0, &[]));
    }
    if path.ends_with(".from_formula") {
        return Some(of(Effect::Formula, 0, &["formula"]));
    }
    // A method read from its class (`pandas.DataFrame`, `numpy.ndarray`) takes the instance as its
    // first argument.
    let (class, name) = path.rsplit_once('.')?;
    let last = class.rsplit('.').next()?;
    let lower = class.contains('.') && !library().is_listed(class);
    if last.starts_with(char::is_uppercase) || lower {
        return method(name).map(|e| Entry {
            index: e.index.saturating_add(1),
            ..e
        });
    }
    None
}

fn look_up(rows: &[Row], name: &str) -> Option<Entry> {
    let at = rows.binary_search_by_key(&name, |row| row.0).ok()?;
    Some(rows[at].1)
}

/// Further deciding arguments of the same call.
pub fn also(path: &str) -> &'static [Entry] {
    const STYLESHEET: &[Entry] = &[of(Effect::Read, 11, &["stylesheet"])];
    const THUMBNAIL: &[Entry] = &[of(Effect::Write, 1, &["thumbfile"])];
    const UNPACKED: &[Entry] = &[of(Effect::Write, 3, &["uncompressed_file_name"])];
    const REPORTS: &[Entry] = &[
        of(Effect::Write, 8, &["errfile"]),
        of(Effect::Write, 9, &["rptfile"]),
    ];
    const BACKEND: &[Entry] = &[of(Effect::Backend, 9, &["backend"])];
    const BACKEND_14: &[Entry] = &[of(Effect::Backend, 14, &["backend"])];
    // Only by keyword: their positions differ, or they have none.
    const STYLESHEET_BY_NAME: &[Entry] = &[of(Effect::Read, usize::MAX, &["stylesheet"])];
    const BACKEND_BY_NAME: &[Entry] = &[of(Effect::Backend, usize::MAX, &["backend"])];
    const BASENAME: &[Entry] = &[of(Effect::Write, usize::MAX, &["basename_template"])];
    match path {
        "to_xml" => STYLESHEET_BY_NAME,
        "pyarrow.dataset.write_dataset" | "pyarrow.parquet.write_to_dataset" => BASENAME,
        "pandas.plotting.boxplot_frame"
        | "pandas.plotting.boxplot_frame_groupby"
        | "pandas.plotting.boxplot"
        | "pandas.plotting.hist_series" => BACKEND_BY_NAME,
        _ if path.ends_with(".to_xml") => STYLESHEET_BY_NAME,
        "pandas.read_xml" => STYLESHEET,
        "matplotlib.image.thumbnail" => THUMBNAIL,
        "scipy.io.readsav" => UNPACKED,
        "scipy.odr.ODR" => REPORTS,
        // The positions of `backend` in the plotting methods (pandas 2 and 3).
        "hist" => BACKEND,
        "pandas.plotting.hist_frame" => BACKEND_14,
        _ => &[],
    }
}

/// The entry for a method name on an unknown object.
pub fn method(name: &str) -> Option<Entry> {
    look_up(table::METHODS, name)
}

/// The entries of all methods whose names begin so.
pub fn beginning(name: &str) -> impl Iterator<Item = Entry> {
    let rows = table::METHODS.iter();
    rows.filter(move |row| row.0.starts_with(name))
        .map(|row| row.1)
}

/// Whether a method is worth following through a variable.
pub fn is_known(name: &str) -> bool {
    method(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_read_from_its_class_counts_its_instance() {
        let e = member("pandas.DataFrame.to_csv").unwrap();
        assert_eq!((e.effect, e.index), (Effect::Write, 1));
        assert!(member("pandas.concat").is_none());
        assert_eq!(
            member("statsmodels.formula.api.ols").unwrap().effect,
            Effect::Formula
        );
    }
    #[test]
    fn tables_are_sorted_and_name_each_call_once() {
        for table in [table::MEMBERS, table::METHODS] {
            for pair in table.windows(2) {
                assert!(pair[0].0 < pair[1].0, "{} before {}", pair[0].0, pair[1].0);
            }
        }
    }
}
