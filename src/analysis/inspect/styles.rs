//! Style sheets of matplotlib that do not exist.

use super::Inspector;
use crate::analysis::parse::ast::{Expr, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;
use crate::analysis::text::shown;
use crate::model::nearest;

const NO_STYLE: &[&str] = &["OSError", "IOError", "EnvironmentError"];

/// `sorted(matplotlib.style.library)` of the locked release, which a test asks (`setting.rs`).
const STYLES: &[&str] = &[
    "Solarize_Light2",
    "_classic_test_patch",
    "_mpl-gallery",
    "_mpl-gallery-nogrid",
    "bmh",
    "classic",
    "dark_background",
    "fast",
    "fivethirtyeight",
    "ggplot",
    "grayscale",
    "petroff10",
    "petroff6",
    "petroff8",
    "seaborn-v0_8",
    "seaborn-v0_8-bright",
    "seaborn-v0_8-colorblind",
    "seaborn-v0_8-dark",
    "seaborn-v0_8-dark-palette",
    "seaborn-v0_8-darkgrid",
    "seaborn-v0_8-deep",
    "seaborn-v0_8-muted",
    "seaborn-v0_8-notebook",
    "seaborn-v0_8-paper",
    "seaborn-v0_8-pastel",
    "seaborn-v0_8-poster",
    "seaborn-v0_8-talk",
    "seaborn-v0_8-ticks",
    "seaborn-v0_8-white",
    "seaborn-v0_8-whitegrid",
    "tableau-colorblind10",
];

impl<'a> Inspector<'a> {
    /// Reports `plt.style.use("seaborn")`.
    pub(super) fn missing_style(&mut self, e: &'a Expr) {
        if self.text.is_some() || !self.knows_release("matplotlib.style") {
            return;
        }
        let vals = self.r.eval(e, self.here());
        let [Val::Text(name)] = vals.as_slice() else {
            return;
        };
        // A name with an ending or a folder is that of a file; `default` are matplotlib's own settings.
        let file = name.contains(['.', '/', '\\']) || self.writes(name);
        if file || &**name == "default" || STYLES.contains(&&**name) {
            return;
        }
        let renamed = name
            .strip_prefix("seaborn")
            .map(|rest| format!("seaborn-v0_8{rest}"));
        let renamed = renamed.filter(|name| STYLES.contains(&name.as_str()));
        let public = || STYLES.iter().copied().filter(|name| !name.starts_with('_'));
        let hint = match renamed.or_else(|| nearest(name, public()).map(str::to_owned)) {
            Some(near) => format!("write `plt.style.use(\"{near}\")`"),
            None => {
                "`plt.style.available` lists the styles, as `ggplot` and `seaborn-v0_8`".to_owned()
            }
        };
        let subject = format!("the style {}", shown(name));
        self.fails(&rules::RUN_MEMBER, e.range(), subject, Some(hint), NO_STYLE);
    }
}
