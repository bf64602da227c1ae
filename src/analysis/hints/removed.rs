//! Hints for members that releases of libraries removed and that code still uses.

/// The hint for a member removed from a library that models still write: the release that
/// removed it, and the replacement.
pub(super) fn removed(written: &str) -> Option<&'static str> {
    Some(match written {
        "numpy.float" => "NumPy 1.24 removed it: write `float` or `np.float64`",
        "numpy.int" => "NumPy 1.24 removed it: write `int` or `np.int64`",
        "numpy.complex" => "NumPy 1.24 removed it: write `complex` or `np.complex128`",
        "numpy.object" => "NumPy 1.24 removed it: write `np.object_`",
        "numpy.str" | "numpy.unicode" => "NumPy 1.24 removed it: write `str` or `np.str_`",
        "numpy.float_" => "NumPy 2.0 removed it: write `np.float64`",
        "numpy.complex_" => "NumPy 2.0 removed it: write `np.complex128`",
        "numpy.unicode_" => "NumPy 2.0 removed it: write `np.str_`",
        "numpy.string_" => "NumPy 2.0 removed it: write `np.bytes_`",
        "numpy.NaN" => "NumPy 2.0 removed it: write `np.nan`",
        "numpy.Inf" | "numpy.Infinity" | "numpy.infty" | "numpy.PINF" => {
            "NumPy 2.0 removed it: write `np.inf`"
        }
        "numpy.NINF" => "NumPy 2.0 removed it: write `-np.inf`",
        "numpy.product" => "NumPy 2.0 removed it: write `np.prod`",
        "numpy.cumproduct" => "NumPy 2.0 removed it: write `np.cumprod`",
        "numpy.sometrue" => "NumPy 2.0 removed it: write `np.any`",
        "numpy.alltrue" => "NumPy 2.0 removed it: write `np.all`",
        "numpy.round_" => "NumPy 2.0 removed it: write `np.round`",
        "numpy.asfarray" => "NumPy 2.0 removed it: write `np.asarray(x, dtype=float)`",
        "numpy.msort" => "NumPy 2.0 removed it: write `np.sort(x, axis=0)`",
        "numpy.mat" => "NumPy 2.0 removed it: write `np.asmatrix`",
        "numpy.find_common_type" => "NumPy 2.0 removed it: write `np.result_type`",
        "numpy.in1d" => "NumPy 2.4 removed it: write `np.isin`",
        "numpy.trapz" => "NumPy 2.4 removed it: write `np.trapezoid`",
        "numpy.asscalar" => "NumPy 1.23 removed it: write `x.item()`",
        "pandas.np" => "pandas 2.0 removed it: write `np`",
        "pandas.datetime" => "pandas 2.0 removed it: write `pd.Timestamp(\"2024-01-31\")`",
        "pandas.Panel" | "pandas.WidePanel" => {
            "pandas 1.0 removed it: write a DataFrame with a MultiIndex"
        }
        "pandas.Int64Index"
        | "pandas.Float64Index"
        | "pandas.UInt64Index"
        | "pandas.NumericIndex" => "pandas 2.0 removed it: write `pd.Index`",
        "pandas.rolling_mean" => "pandas 0.23 removed it: write `x.rolling(n).mean()`",
        "pandas.rolling_std" => "pandas 0.23 removed it: write `x.rolling(n).std()`",
        "pandas.rolling_sum" => "pandas 0.23 removed it: write `x.rolling(n).sum()`",
        "pandas.rolling_median" => "pandas 0.23 removed it: write `x.rolling(n).median()`",
        "pandas.expanding_mean" => "pandas 0.23 removed it: write `x.expanding().mean()`",
        "pandas.ewma" => "pandas 0.23 removed it: write `x.ewm(span=n).mean()`",
        "pandas.TimeGrouper" => "pandas 1.0 removed it: write `pd.Grouper(freq=\"D\")`",
        "pandas.scatter_matrix" => "pandas 1.0 removed it: write `pd.plotting.scatter_matrix`",
        "pandas.ordered_merge" => "pandas 1.0 removed it: write `pd.merge_ordered`",
        "pandas.DataFrame.append" | "pandas.Series.append" => {
            "pandas 2.0 removed it: write `pd.concat([a, b])`"
        }
        "pandas.DataFrame.iteritems" | "pandas.Series.iteritems" => {
            "pandas 2.0 removed it: write `items`"
        }
        "pandas.DataFrame.sort" | "pandas.Series.sort" | "pandas.Series.order" => {
            "pandas 0.20 removed it: write `sort_values`, or `sort_index` for the index"
        }
        "pandas.DataFrame.ix" | "pandas.Series.ix" => {
            "pandas 1.0 removed it: write `loc` for labels, `iloc` for positions"
        }
        "pandas.DataFrame.as_matrix" | "pandas.Series.as_matrix" => {
            "pandas 1.0 removed it: write `to_numpy()`"
        }
        "pandas.DataFrame.get_value" | "pandas.DataFrame.set_value" => {
            "pandas 1.0 removed it: write `at[row, column]`"
        }
        "pandas.DataFrame.lookup" => {
            "pandas 2.0 removed it: write `to_numpy()` and positions, or `melt`"
        }
        "pandas.DataFrame.mad" | "pandas.Series.mad" => {
            "pandas 2.0 removed it: write `(x - x.mean()).abs().mean()`"
        }
        "pandas.DataFrame.tshift" | "pandas.Series.tshift" => {
            "pandas 2.0 removed it: write `x.shift(n, freq=\"D\")`"
        }
        "pandas.DataFrame.progress_apply"
        | "pandas.Series.progress_apply"
        | "pandas.Series.progress_map"
        | "pandas.DataFrame.progress_applymap" => {
            "call `tqdm.pandas()` first: `from tqdm import tqdm`"
        }
        "pandas.Series.value_count" | "pandas.DataFrame.value_count" => "write `value_counts`",
        "datetime.now"
        | "datetime.today"
        | "datetime.utcnow"
        | "datetime.strptime"
        | "datetime.strftime"
        | "datetime.fromtimestamp"
        | "datetime.fromisoformat"
        | "datetime.combine" => {
            "`datetime` is the module here: write `from datetime import datetime`"
        }
        "scipy.integrate.simps" => "SciPy 1.14 removed it: write `scipy.integrate.simpson`",
        "scipy.integrate.trapz" => "SciPy 1.14 removed it: write `scipy.integrate.trapezoid`",
        "scipy.integrate.cumtrapz" => {
            "SciPy 1.14 removed it: write `scipy.integrate.cumulative_trapezoid`"
        }
        "matplotlib.pyplot.save" => "write `plt.savefig(\"name.png\")`",
        "sklearn.datasets.load_boston" => {
            "scikit-learn 1.2 removed it: write `load_diabetes`, or bring the table as an input"
        }
        "sklearn.cross_validation" | "sklearn.grid_search" => {
            "scikit-learn 0.20 removed it: write `sklearn.model_selection`"
        }
        "sklearn.learning_curve" => {
            "scikit-learn 0.20 removed it: write `from sklearn.model_selection import learning_curve`"
        }
        "sklearn.externals" | "sklearn.externals.joblib" => {
            "scikit-learn 0.23 removed it: write `import joblib`"
        }
        "sklearn.preprocessing.Imputer" => {
            "scikit-learn 0.22 removed it: write `from sklearn.impute import SimpleImputer`"
        }
        "pandas.util.testing" => "pandas 2.0 removed it: write `pd.testing`",
        "pandas.tools.plotting" => "pandas 1.0 removed it: write `pd.plotting`",
        "random.int" => "write `random.randint(a, b)`",
        "pandas.DataFrame.from_items" => "pandas 1.0 removed it: write `pd.DataFrame.from_dict`",
        _ => return None,
    })
}
