//! Methods of tables that are read where their result is meant, and functions of pyplot that are called on axes: both
//! are certain to fail.

use super::Inspector;
use super::absent::is_table;
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;
use crate::analysis::walk::{Bound, Step};

/// Methods that only tables and columns of pandas have.
const ROWS: &[&str] = &["iterrows", "itertuples"];
/// Methods that are looped over, too, and that objects of other kinds have as plain attributes.
const OF_TABLES: &[&str] = &["items", "keys"];
const NOT_ITERABLE: &[&str] = &["TypeError"];

/// Functions of `matplotlib.pyplot` that are called `set_…` on axes.
const SETTERS: &[&str] = &[
    "title", "xlabel", "xlim", "xscale", "xticks", "ylabel", "ylim", "yscale", "yticks",
];
/// `title` is a text there, the others are missing.
const NO_SETTER: &[&str] = &["TypeError", "AttributeError"];
/// Functions that return axes.
const AXES: &[&str] = &[
    "matplotlib.pyplot.axes",
    "matplotlib.pyplot.gca",
    "matplotlib.pyplot.subplot",
];
/// Returns a figure and its axes, or an array of them.
const SUBPLOTS: &str = "matplotlib.pyplot.subplots";

impl<'a> Inspector<'a> {
    /// Reports `for i, row in df.iterrows:`.
    pub(super) fn looped_over(&mut self, e: &'a Expr) {
        let Expr::Attribute(x) = e else { return };
        let attr = fold(x.attr.as_str());
        let scopes = &self.r.scopes;
        let own = scopes.fields.contains_key(&*attr) || scopes.classes.contains_key(&*attr);
        if own || self.text.is_some() {
            return;
        }
        let base = self.r.eval(&x.value, self.here());
        let table = || !base.is_empty() && base.iter().all(is_table);
        if ROWS.contains(&&*attr) || (OF_TABLES.contains(&&*attr) && table()) {
            let hint = format!("call it: `{attr}()`");
            let subject = format!("{attr} without a call");
            self.fails(
                &rules::RUN_KIND,
                e.range(),
                subject,
                Some(hint),
                NOT_ITERABLE,
            );
        }
    }

    /// Reports `ax.title("Sales")`.
    pub(super) fn axes_method(&mut self, call: &'a ast::ExprCall) {
        let Expr::Attribute(x) = &*call.func else {
            return;
        };
        let Expr::Name(name) = &*x.value else { return };
        let attr = fold(x.attr.as_str());
        let known = self.knows_release("matplotlib.pyplot");
        if self.text.is_none() && known && SETTERS.contains(&&*attr) && self.is_axes(name) {
            let shown = name.id.as_str();
            let hint = format!("on axes it is `set_{attr}`: write `{shown}.set_{attr}(…)`");
            let subject = format!("{shown}.{attr}()");
            self.fails(
                &rules::RUN_MEMBER,
                x.range(),
                subject,
                Some(hint),
                NO_SETTER,
            );
        }
    }

    /// Whether the name is bound to axes and to nothing else.
    fn is_axes(&self, name: &'a ast::ExprName) -> bool {
        let found = self.r.scopes.lookup(&fold(name.id.as_str()), self.here());
        let bindings = found.bindings.iter().flat_map(|(all, _)| all.iter());
        let calls = |e: &'a Expr, scope, paths: &[&str]| {
            let Expr::Call(call) = e else { return false };
            let function = self.r.eval(&call.func, scope);
            let one = |v: &Val<'a>| matches!(v, Val::Member(path) if paths.contains(&&**path));
            !function.is_empty() && function.iter().all(one)
        };
        let mut axes = bindings.map(|b| match b.to {
            Bound::Value(e) => calls(e, b.scope, AXES),
            Bound::Part(e, way) => {
                way.steps().first() == Some(&Step::Index(1)) && calls(e, b.scope, &[SUBPLOTS])
            }
            _ => false,
        });
        axes.next()
            .is_some_and(|first| first && axes.all(|one| one))
    }
}
