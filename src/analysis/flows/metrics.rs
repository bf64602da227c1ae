//! Tests and scores of libraries: of whole columns, they leave a number.

use super::Pass;
use super::functions::Given;
use super::sums::summed_up;
use super::value::{GROUPED, MODEL, PLAIN, TABLE, Value, WHOLE, WINDOW};

/// Functions of `scipy.stats` that test or correlate samples.
const TESTS: &[&str] = &[
    "anderson",
    "ansari",
    "bartlett",
    "chi2_contingency",
    "chisquare",
    "f_oneway",
    "fisher_exact",
    "fligner",
    "friedmanchisquare",
    "jarque_bera",
    "kendalltau",
    "kruskal",
    "ks_2samp",
    "kurtosistest",
    "levene",
    "linregress",
    "mannwhitneyu",
    "mood",
    "normaltest",
    "pearsonr",
    "pointbiserialr",
    "ranksums",
    "shapiro",
    "skewtest",
    "spearmanr",
    "ttest_1samp",
    "ttest_ind",
    "ttest_rel",
    "wilcoxon",
];
/// Functions of `sklearn.metrics` that score whole columns.
const SCORES: &[&str] = &[
    "accuracy_score",
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "average_precision_score",
    "balanced_accuracy_score",
    "calinski_harabasz_score",
    "cohen_kappa_score",
    "davies_bouldin_score",
    "explained_variance_score",
    "f1_score",
    "log_loss",
    "matthews_corrcoef",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_log_error",
    "mutual_info_score",
    "normalized_mutual_info_score",
    "precision_score",
    "r2_score",
    "rand_score",
    "recall_score",
    "roc_auc_score",
    "root_mean_squared_error",
    "silhouette_score",
];
/// The same with the classes by their names.
const REPORTS: &[&str] = &["classification_report", "confusion_matrix"];

impl<'a> Pass<'a> {
    /// What a test or a score of whole columns leaves; `None` if it is none, or gets anything else.
    pub(super) fn metric(
        &self,
        path: &str,
        given: &Given<'a>,
        all: &Value<'a>,
    ) -> Option<Value<'a>> {
        let (module, name) = path.rsplit_once('.')?;
        let report = module == "sklearn.metrics" && REPORTS.contains(&name);
        let known = report
            || module == "scipy.stats" && TESTS.contains(&name)
            || module == "sklearn.metrics" && SCORES.contains(&name);
        let words = given.keywords.iter().map(|(_, v)| v);
        let mut each = given.positional.iter().chain(words);
        if !known || given.rest.is_some() || all.is_bare() || !each.all(|v| self.is_level(v)) {
            return None;
        }
        let mut out = summed_up(&all.clone().with(WHOLE).without(GROUPED | WINDOW));
        if report && let Some(classes) = given.positional.first() {
            out.as_is.add(&classes.as_is);
        }
        Some(out.without(PLAIN | TABLE).with(MODEL))
    }

    /// Whether a value is whole columns, or holds only sums beside its index.
    fn is_level(&self, value: &Value<'a>) -> bool {
        let sums = value.as_is.iter().all(|id| value.index.has(id)) && value.order.is_empty();
        match value.is_bare() {
            true => self.is_set(value),
            false => value.funcs.is_empty() && (value.has(WHOLE) || sums),
        }
    }
}
