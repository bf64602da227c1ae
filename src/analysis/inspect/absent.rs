//! Members that the installed libraries surely lack, methods that no table has, and folders that
//! nothing creates.

use super::Inspector;
use super::doomed::REFUSED;
use crate::analysis::fold::fold;
use crate::analysis::hints;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;
use crate::model::nearest;
use crate::policy::Contract;

/// A failing `from … import` raises the second one.
const ABSENT: &[&str] = &["AttributeError", "ImportError"];
const TABLE: &str = "pandas.DataFrame";
/// Functions that return a table. Reading a file in chunks returns a reader instead, which also has
/// `READERS`.
const TABLES: &[&str] = &[
    "pandas.DataFrame",
    "pandas.crosstab",
    "pandas.get_dummies",
    "pandas.json_normalize",
    "pandas.merge",
    "pandas.pivot_table",
    "pandas.read_csv",
    "pandas.read_parquet",
];
const READERS: &[&str] = &["close", "get_chunk", "read"];
/// Methods that `tqdm.pandas()` adds.
const PROGRESS: &[&str] = &[
    "progress_aggregate",
    "progress_apply",
    "progress_applymap",
    "progress_map",
    "progress_transform",
];
/// Functions that return an array.
const ARRAYS: &[&str] = &[
    "numpy.arange",
    "numpy.array",
    "numpy.empty",
    "numpy.full",
    "numpy.linspace",
    "numpy.ones",
    "numpy.zeros",
];

/// Functions that write a file but do not create its folder.
const FILES_ONLY: &[&str] = &[
    "logging.FileHandler",
    "matplotlib.pyplot.savefig",
    "numpy.save",
    "numpy.savetxt",
    "numpy.savez",
    "numpy.savez_compressed",
    "open",
    "pandas.ExcelWriter",
    "savefig",
    "to_csv",
    "to_excel",
    "to_feather",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_orc",
    "to_stata",
    "to_string",
    "to_xml",
    "touch",
    "write_bytes",
    "write_html",
    "write_json",
    "write_text",
];
/// Words for functions that create folders, or may do so.
const MAKES_FOLDERS: &[&str] = &[
    "chdir",
    "copytree",
    "extract",
    "extractall",
    "makedirs",
    "mkdir",
    "mkdtemp",
    "unpack_archive",
    "write_dataset",
    "write_to_dataset",
];

/// Functions that write a folder of files with names of their own; the guard refuses them (`zone.py`).
const DATASETS: &[&str] = &[
    "pyarrow.dataset.write_dataset",
    "pyarrow.parquet.write_to_dataset",
];

fn is_none(e: &Expr) -> bool {
    matches!(e, Expr::Constant(c) if c.value.is_none())
}

pub(super) fn makes_file_only(subject: &str) -> bool {
    FILES_ONLY.contains(&subject)
}

/// Whether this is a table, or a reader of one in chunks.
pub(super) fn is_table(v: &Val<'_>) -> bool {
    matches!(v, Val::Result(path) if TABLES.contains(&&**path))
}

impl<'a> Inspector<'a> {
    /// Whether the member with this dotted path surely does not exist.
    pub(super) fn is_missing(&self, written: &str) -> bool {
        let Some(python) = &self.setting.python else {
            return false;
        };
        let Some(at) = written.rsplit_once('.').filter(|_| self.text.is_none()) else {
            return false;
        };
        let python = (python.version, &python.releases);
        self.r.library().lacks(at, &python)
    }

    /// Whether the installed release of the module's library is the one that is described here.
    pub(super) fn knows_release(&self, module: &str) -> bool {
        let python = self.setting.python.as_ref();
        python.is_some_and(|python| {
            let python = (python.version, &python.releases);
            self.r.library().is_known(module, &python)
        })
    }

    pub(super) fn no_member(&mut self, written: String, hint: Option<String>, at: TextRange) {
        self.fails(&rules::RUN_MEMBER, at, written, hint, ABSENT);
    }

    /// Whether `tqdm.pandas()` gives tables, columns and groups this method.
    pub(super) fn shows_progress(&self, method: &str) -> bool {
        let scopes = &self.r.scopes;
        PROGRESS.contains(&method)
            && (scopes.calls.contains_key("pandas") || scopes.attributes_read.contains("pandas"))
    }

    /// Reports `df.to_cvs(…)`: even a column of that name could not be called.
    pub(super) fn table_method(&mut self, call: &'a ast::ExprCall) {
        let Expr::Attribute(x) = &*call.func else {
            return;
        };
        let Some(python) = &self.setting.python else {
            return;
        };
        let attr = fold(x.attr.as_str());
        let scopes = &self.r.scopes;
        let own = scopes.fields.contains_key(&*attr)
            || scopes.classes.contains_key(&*attr)
            || scopes.is_read("register_dataframe_accessor")
            || scopes
                .attributes_read
                .contains("register_dataframe_accessor");
        let python = (python.version, &python.releases);
        let Some(has) = self.r.library().class(TABLE, &python).filter(|_| !own) else {
            return;
        };
        let there = has.contains(&*attr) || self.shows_progress(&attr);
        if self.text.is_some() || attr.starts_with('_') || there {
            return;
        }
        let base = self.r.eval(&x.value, self.here());
        // Only the former `append` of pandas takes `ignore_index`; a list's `append` takes no
        // keyword.
        let ignores =
            |k: &ast::Keyword| k.arg.as_ref().is_some_and(|a| a.as_str() == "ignore_index");
        let old = &*attr == "append" && call.keywords.iter().any(ignores);
        let table = !base.is_empty() && base.iter().all(is_table) && !READERS.contains(&&*attr);
        if table || old {
            let written = format!("{TABLE}.{attr}");
            let near = || {
                Some(format!(
                    "did you mean `{}`?",
                    nearest(&attr, has.iter().copied())?
                ))
            };
            let hint = hints::member(&written).map(str::to_owned).or_else(near);
            self.no_member(written, hint, x.range());
        }
    }

    /// Reports `a.resize(…)` on what is surely an array: the guard removes that method from arrays.
    pub(super) fn array_method(&mut self, call: &'a ast::ExprCall) {
        let Expr::Attribute(x) = &*call.func else {
            return;
        };
        let guarded = self.policy.contract != Contract::Script;
        if self.text.is_some() || !guarded || fold(x.attr.as_str()) != "resize" {
            return;
        }
        let base = self.r.eval(&x.value, self.here());
        let array = |v: &Val<'a>| matches!(v, Val::Result(path) if ARRAYS.contains(&&**path));
        if !base.is_empty() && base.iter().all(array) {
            let hint = "an array keeps its size here: `np.resize` makes a new one".to_owned();
            let written = "numpy.ndarray.resize".to_owned();
            self.fails(
                &rules::RUN_MEMBER,
                x.range(),
                written,
                Some(hint),
                &["ValueError"],
            );
        }
    }

    /// Reports `df.to_parquet("out", partition_cols=["region"])`: pandas hands the columns on to one of [`DATASETS`].
    pub(super) fn partitioned(&mut self, call: &'a ast::ExprCall) {
        let Expr::Attribute(x) = &*call.func else {
            return;
        };
        let is_given = |k: &&ast::Keyword| {
            k.arg
                .as_ref()
                .is_some_and(|a| a.as_str() == "partition_cols")
                && !is_none(&k.value)
        };
        let given = call.keywords.iter().find(is_given);
        let name = fold(x.attr.as_str());
        if let Some(given) = given
            && name == "to_parquet"
            && !self.own_method(call, &name)
        {
            self.folder_of_files("`partition_cols`", given.range());
        }
    }

    /// Reports a call of one of [`DATASETS`].
    pub(super) fn dataset_call(&mut self, path: &str, at: TextRange) {
        if DATASETS.contains(&path) {
            self.folder_of_files(path, at);
        }
    }

    fn folder_of_files(&mut self, subject: &str, at: TextRange) {
        if self.policy.contract == Contract::Analysis && self.policy.guard {
            let subject = format!("{subject}, which names files by itself");
            let hint = "write a file per group: `for key, part in df.groupby(\"region\"): \
                        part.to_parquet(f\"{key}.parquet\")`";
            self.fails(
                &rules::IMPORT_MEMBER,
                at,
                subject,
                Some(hint.to_owned()),
                REFUSED,
            );
        }
    }

    /// Reports files in folders that nothing creates: the output folder is empty at the start.
    pub(super) fn without_folder(&mut self) {
        let scopes = &self.r.scopes;
        let makes = |word: &&str| scopes.is_read(word) || scopes.attributes_read.contains(*word);
        let folders = std::mem::take(&mut self.doomed.folders);
        if self.policy.contract != Contract::Analysis || MAKES_FOLDERS.iter().any(makes) {
            return;
        }
        for (folder, at) in folders {
            let hint = format!("write `import os; os.makedirs(\"{folder}\", exist_ok=True)` first");
            self.add(&rules::FS_FOLDER, at, folder).hint = Some(hint);
        }
    }
}
