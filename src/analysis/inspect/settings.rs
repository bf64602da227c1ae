//! Settings and keywords that select a module or a program by its name.

use super::Inspector;
use super::calls::Arguments;
use super::texts::FORMULAS;
use crate::analysis::fold::fold;
use crate::analysis::methods::{Effect, Entry};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{Constant, Expr, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;
use crate::analysis::walk::Bound;
use crate::model::Capability;
use crate::policy::Contract;

/// Hooks that matplotlib runs on every new figure: `module:function`.
const HOOKS: &str = "figure.hooks";

impl<'a> Inspector<'a> {
    /// Judges keywords with the same meaning in every call: `usetex` starts LaTeX, file systems and
    /// storage options lead outside the folder, a backend is a module.
    pub(super) fn telling_keywords(&mut self, arguments: Arguments<'a>) {
        for keyword in &arguments.call.keywords {
            let Some(name) = &keyword.arg else { continue };
            let e = &keyword.value;
            if is_nothing(e) {
                continue;
            }
            let at = e.range();
            match &*fold(name.as_str()) {
                "usetex" => {
                    self.add(&rules::EXEC_CALL, at, "usetex");
                }
                // How many frames up a formula looks for its names.
                "eval_env" => {
                    self.add(&rules::DYN_QUERY_SCOPE, at, "eval_env");
                }
                "auto_open" => {
                    self.add(&rules::EXEC_CALL, at, "auto_open").hint =
                        Some("leave it out; there is no browser".to_owned());
                }
                "n_samples" | "n_features" | "periods" | "shape" | "size" | "repeats"
                | "minlength" => {
                    self.size_keyword(e, name);
                }
                "memory" => self.cache(e, at),
                "storage_options" => {
                    self.add(&rules::NET_URL, at, "storage_options");
                }
                "filesystem" => {
                    self.add_with(
                        &rules::FS_OUTSIDE,
                        at,
                        Some(Capability::FsRead),
                        "filesystem",
                    );
                }
                "backend" if self.is_text(e) || draws(&arguments.call.func) => {
                    self.backend(e, at, "backend");
                }
                "renderer" => self.renderer(e, at),
                name if FORMULAS.contains(&name) => self.formulas_in((e, self.here()), at),
                "estimator" | "aggfunc" if self.is_text(e) => self.by_keyword(e, at),
                // scikit-learn's text vectorizers open each document.
                "input" if self.holds_text(e, &["filename", "file"]) => {
                    self.add_with(
                        &rules::FS_COMPUTED,
                        at,
                        Some(Capability::FsRead),
                        "input=\"filename\"",
                    );
                }
                "regex" => self.regex(e, at),
                "font" | "fontproperties" | "font_properties" | "prop" => self.font(e, at),
                _ => {}
            }
        }
    }

    /// A fontconfig pattern may name a file: `":file=…"`.
    pub(super) fn font(&mut self, e: &'a Expr, at: TextRange) {
        let file = self
            .r
            .eval(e, self.here())
            .iter()
            .any(|v| matches!(v, Val::Text(t) if t.contains("file=")));
        if file {
            self.add_with(
                &rules::FS_OUTSIDE,
                at,
                Some(Capability::FsRead),
                "font pattern",
            );
        }
    }

    /// Judges plotly's renderer: some renderers start a browser and a server. The contract
    /// `analysis` ignores it and keeps the figure (`figures.py`).
    pub(super) fn renderer(&mut self, e: &'a Expr, at: TextRange) {
        if self.policy.guard && self.policy.contract == Contract::Analysis {
            return;
        }
        let vals = self.r.eval(e, self.here());
        let program = vals.iter().any(|v| {
            let Val::Text(text) = v else { return false };
            ["browser", "chrome", "chromium", "firefox"]
                .iter()
                .any(|name| text.split('+').any(|part| part == *name))
        });
        if program {
            self.uses(Capability::NetworkListen, at, "plotly renderer");
            self.add(&rules::EXEC_CALL, at, "plotly renderer");
        }
    }

    fn is_text(&self, e: &'a Expr) -> bool {
        self.r
            .eval(e, self.here())
            .iter()
            .any(|v| matches!(v, Val::Text(_) | Val::ComputedText))
    }

    fn holds_text(&self, e: &'a Expr, texts: &[&str]) -> bool {
        self.r
            .eval(e, self.here())
            .iter()
            .any(|v| matches!(v, Val::Text(t) if texts.contains(&&**t)))
    }

    /// Judges a plotting backend, which is a module that gets imported.
    pub(super) fn backend(&mut self, e: &'a Expr, at: TextRange, subject: &str) {
        let vals = self.r.eval(e, self.here());
        if vals
            .iter()
            .any(|v| matches!(v, Val::Text(name) if name.eq_ignore_ascii_case("pgf")))
        {
            self.add(&rules::EXEC_CALL, at, "pgf").hint = Some(LATEX.to_owned());
            return;
        }
        let fine = vals.iter().all(|v| match v {
            Val::Text(name) => matches!(
                name.to_ascii_lowercase().as_str(),
                "agg"
                    | "svg"
                    | "pdf"
                    | "ps"
                    | "cairo"
                    | "template"
                    | "matplotlib"
                    | "plotly"
                    | "inline"
                    | "module://matplotlib_inline.backend_inline"
                    | "scipy"
                    | "threading"
                    | "sequential"
                    | "loky"
                    | "multiprocessing"
            ),
            Val::Unknown => matches!(e, Expr::Constant(c) if c.value == Constant::None),
            _ => false,
        });
        if !fine {
            self.add(&rules::DYN_BACKEND, at, subject).hint =
                Some("leave the backend alone; figures are collected as they are".to_owned());
        }
    }

    /// Judges `rcParams.update(…)`, `rc("figure", …)`, `rc_context({…})`, `set_theme(rc={…})`.
    pub(super) fn settings(&mut self, path: &str, arguments: Arguments<'a>) {
        let mut groups = vec![String::new()];
        if path.ends_with(".rc")
            && let Some(e) = arguments.given(0, &["group"])
        {
            for val in self.r.eval(e, self.here()).iter() {
                if let Val::Text(text) = val {
                    groups.push(format!("{text}."));
                }
            }
        }
        for keyword in &arguments.call.keywords {
            let Some(name) = keyword.arg.as_ref().filter(|n| n.as_str() != "backend") else {
                continue;
            };
            for group in &groups {
                let key = format!("{group}{}", fold(name.as_str()));
                self.set(&key, Bound::Value(&keyword.value), keyword.range());
            }
        }
        for e in &arguments.call.args {
            if let Expr::Dict(dict) = e {
                for (key, value) in dict.keys.iter().zip(&dict.values) {
                    if let Some(key) = key {
                        self.setting(key, Bound::Value(value), key.range());
                    }
                }
            }
        }
        if path.ends_with(".setdefault")
            && let (Some(key), Some(value)) = (arguments.positional(0), arguments.positional(1))
        {
            self.setting(key, Bound::Value(value), key.range());
        }
    }

    /// Judges one setting by the expression of its key.
    pub(super) fn setting(&mut self, key: &'a Expr, to: Bound<'a>, at: TextRange) {
        for val in self.r.eval(key, self.here()).iter() {
            if let Val::Text(key) = val {
                self.set(key, to, at);
            }
        }
    }

    /// Judges matplotlib settings that start programs or select modules.
    fn set(&mut self, key: &str, to: Bound<'a>, at: TextRange) {
        if matches!(to, Bound::Value(e) if is_nothing(e)) {
            return;
        }
        match key {
            HOOKS => {
                self.add(&rules::DYN_BACKEND, at, HOOKS).hint =
                    Some("call the function on the figure yourself".to_owned());
            }
            "backend" => {
                if let Bound::Value(value) = to {
                    self.backend(value, at, "rcParams");
                } else {
                    self.add(&rules::DYN_BACKEND, at, "rcParams");
                }
            }
            "pgf.texsystem"
            | "ps.usedistiller"
            | "text.usetex"
            | "text.latex.preamble"
            | "text.latex.engine"
            | "pgf.preamble"
            | "animation.ffmpeg_path"
            | "animation.convert_path"
            | "animation.ffmpeg_args"
            | "animation.convert_args" => {
                self.add(&rules::EXEC_CALL, at, key);
            }
            _ => {}
        }
    }

    /// Judges the keys of any dict: settings reach matplotlib in many ways.
    pub(super) fn settings_in(&mut self, keys: &'a [Option<Expr>], values: &'a [Expr]) {
        for (key, value) in keys.iter().zip(values) {
            if let Some(key @ Expr::Constant(c)) = key
                && let Constant::Str(text) = &c.value
                && text != "backend"
                && text != HOOKS
            {
                self.set(text, Bound::Value(value), key.range());
            }
        }
    }

    /// Judges a text that can only be the name of this setting.
    pub(super) fn setting_text(&mut self, text: &str, at: TextRange) {
        if text == HOOKS {
            self.set(text, Bound::Something, at);
        }
    }

    /// `set_option("pat", value, …)`: a case-insensitive pattern, and further pairs after the
    /// first.
    pub(super) fn option(
        &mut self,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        let backend = |v: &Val<'_>| match v {
            Val::Text(name) => {
                let name = name.to_lowercase();
                let plain = name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
                !plain || name.contains("backend") || "plotting.backend".contains(name.as_str())
            }
            _ => true,
        };
        if arguments.open_ended() {
            self.add(&rules::DYN_BACKEND, at, subject);
            return;
        }
        let first = arguments.keyword(entry.names).into_iter();
        let pairs = (0..arguments.count())
            .step_by(2)
            .filter_map(|i| arguments.positional(i).map(|e| (i, e)));
        let value = arguments.keyword(&["val", "value"]);
        let options: Vec<(&'a Expr, Option<&'a Expr>)> = first
            .map(|e| (e, value))
            .chain(pairs.map(|(i, e)| (e, arguments.positional(i + 1).or(value))))
            .collect();
        for (option, value) in options {
            if !self.r.eval(option, self.here()).iter().any(backend) {
                continue;
            }
            match value {
                Some(value) => self.backend(value, at, subject),
                None => {
                    self.add(&rules::DYN_BACKEND, at, subject);
                }
            }
        }
    }

    /// `….save(…)`, `….savefig(…)`: some formats need another program, some are pickles.
    pub(super) fn save(
        &mut self,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        if let Some(writer) = arguments.keyword(&["writer"])
            && self.is_text(writer)
            && !self.holds_text(writer, &["pillow"])
        {
            self.add(&rules::EXEC_CALL, at, "animation writer").hint = Some(PILLOW.to_owned());
        }
        if let Some(e) = arguments.deciding(entry) {
            for val in self.r.eval(e, self.here()).iter() {
                let Val::Text(name) = val else { continue };
                let end = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
                match end.as_str() {
                    "pkl" | "pickle" | "joblib" => {
                        self.add(&rules::DESER_DUMP, at, subject);
                    }
                    "mp4" | "m4v" | "mov" | "avi" | "mkv" | "webm" => {
                        self.add(&rules::EXEC_CALL, at, "ffmpeg").hint = Some(PILLOW.to_owned());
                    }
                    _ => {}
                }
            }
        }
        self.file(Capability::FsWrite, entry, subject, arguments, at);
    }

    /// Judges a figure that is saved through LaTeX.
    pub(super) fn typeset(&mut self, arguments: Arguments<'a>, entry: Entry, at: TextRange) {
        if entry.effect != Effect::Write {
            return;
        }
        let format = arguments.keyword(&["format"]);
        let named = arguments.deciding(entry);
        let pgf = format.is_some_and(|e| self.holds_text(e, &["pgf"]))
            || named.is_some_and(|e| {
                self.r
                    .eval(e, self.here())
                    .iter()
                    .any(|v| matches!(v, Val::Text(t) if t.ends_with(".pgf")))
            });
        if pgf {
            self.add(&rules::EXEC_CALL, at, "pgf").hint = Some(LATEX.to_owned());
        }
    }
}

const LATEX: &str = "save as png, svg or pdf; LaTeX is not there";
const PILLOW: &str = "save as .gif with writer=\"pillow\"";

/// Whether the keyword `backend` of this method names a module, whatever its value is.
fn draws(callee: &Expr) -> bool {
    matches!(callee, Expr::Attribute(x) if matches!(
        x.attr.as_str(),
        "plot" | "hist" | "boxplot" | "savefig" | "print_figure"
    ))
}

/// Whether the value is `None`, `False` or an empty list.
fn is_nothing(e: &Expr) -> bool {
    match e {
        Expr::Constant(c) => matches!(c.value, Constant::None | Constant::Bool(false)),
        Expr::List(x) => x.elts.is_empty(),
        _ => false,
    }
}
