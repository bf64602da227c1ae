"""Measures whether new columns are worth keeping: cross-validates a seeded model without and with them."""

from __future__ import annotations

import math

from _countersign.columns import violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEED = 0
FOLDS = 5
ROWS_MIN = 20
# From longer tables this many rows are sampled, always with the same seed: the limit is on measuring, not on tables.
ROWS_MAX = 10_000
# An integer target with at most this many distinct values counts as classes.
CLASSES_MAX = 20

# Metrics by scikit-learn's names for its scorers.
REGRESSION = ("r2", "neg_mean_absolute_error", "neg_root_mean_squared_error")
CLASSIFICATION = ("accuracy", "balanced_accuracy", "f1_macro", "roc_auc", "neg_log_loss")
ESTIMATORS = ("linear", "forest")
KEYS = ("target", "metric", "estimator")


class Lift:
    """A requested measurement: `{"target", "metric"?, "estimator"?}`."""

    def __init__(self, asked: Any, frame: Any) -> None:
        if not isinstance(asked, dict) or not isinstance(asked.get("target"), str):
            raise violation('`lift` must be {"target": a column, "metric"?, "estimator"?}')
        for key in asked:
            if key not in KEYS:
                raise violation(f"`lift` has no `{key}`; it takes {', '.join(KEYS)}")
        self.target = asked["target"]
        if self.target not in frame.columns:
            raise violation(f"`lift` names the target `{self.target}`, which is no column of `df`")
        self.estimator = asked.get("estimator") or "linear"
        if self.estimator not in ESTIMATORS:
            raise violation(f"`lift` takes the estimators {', '.join(ESTIMATORS)}")
        self.metric = asked.get("metric")
        if self.metric not in (None, *REGRESSION, *CLASSIFICATION):
            raise violation(f"`lift` takes the metrics {', '.join((*REGRESSION, *CLASSIFICATION))}")

    def measured(self, frame: Any, new: Any) -> dict[str, Any]:
        """`{metric, before, after, delta, std, adopted}`.

        Uses the same folds without and with the columns. `delta` is the mean difference, `std` the standard
        deviation of the differences over the folds. Columns are adopted if `delta` exceeds `std`.
        """
        import numpy
        import pandas
        from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

        frame = frame.reset_index(drop=True)
        new = new.reset_index(drop=True).astype(float)
        have = frame[self.target].notna()
        frame, new = frame[have], new[have]
        if len(frame) > ROWS_MAX:
            drawn = numpy.random.default_rng(SEED).permutation(len(frame))[:ROWS_MAX]
            frame, new = frame.iloc[drawn], new.iloc[drawn]
        if len(frame) < ROWS_MIN:
            raise violation(f"a lift is measured on at least {ROWS_MIN} rows with a target")
        target = frame[self.target]
        classes = self.is_classes(target)
        metric = self.metric or ("accuracy" if classes else "r2")
        if classes:
            codes, names = pandas.factorize(target)
            fewest = int(numpy.bincount(codes).min())
            if len(names) < 2 or fewest < 2:
                raise violation("a class of the target has fewer than 2 rows")
            target = codes
            folds: Any = StratifiedKFold(min(FOLDS, fewest), shuffle=True, random_state=SEED)
        else:
            target = target.to_numpy(dtype=float)
            folds = KFold(FOLDS, shuffle=True, random_state=SEED)
        if metric == "roc_auc" and len(names) > 2:
            metric = "roc_auc_ovr"
        before = plain(frame.drop(columns=[self.target]))
        after = pandas.concat([before, new], axis=1)
        if not before.shape[1]:
            # The table has only the target: a constant column gives the baseline model that knows nothing.
            before = pandas.DataFrame({"none": 0.0}, index=frame.index)

        def scores(table: Any) -> Any:
            model = self.model(classes)
            return cross_val_score(
                model,
                table.to_numpy(dtype=float),
                target,
                cv=folds,
                scoring=metric,
                error_score="raise",
            )

        without, with_ = scores(before), scores(after)
        gained = with_ - without
        delta, spread = float(gained.mean()), float(gained.std(ddof=1))
        return {
            "metric": metric,
            "before": number(without.mean()),
            "after": number(with_.mean()),
            "delta": number(delta),
            "std": number(spread),
            "adopted": bool(delta > 0 and delta > spread),
        }

    def is_classes(self, target: Any) -> bool:
        import pandas.api.types as types

        if self.metric is not None:
            return self.metric in CLASSIFICATION
        if types.is_bool_dtype(target) or not types.is_numeric_dtype(target):
            return True
        whole = (target == target.round()).all()
        return bool(whole and target.nunique() <= min(CLASSES_MAX, len(target) // 10))

    def model(self, classes: bool) -> Any:
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline

        fill = SimpleImputer(strategy="median", keep_empty_features=True)
        if self.estimator == "forest":
            from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

            forest: Any = RandomForestClassifier if classes else RandomForestRegressor
            return make_pipeline(fill, forest(n_estimators=100, random_state=SEED, n_jobs=1))
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.preprocessing import StandardScaler

        last: Any = LogisticRegression(max_iter=1000, random_state=SEED) if classes else Ridge(random_state=SEED)
        return make_pipeline(fill, StandardScaler(), last)


def plain(frame: Any) -> Any:
    """The table with numbers unchanged and other values replaced by codes in order of appearance."""
    import pandas

    parts = {}
    for at in range(len(frame.columns)):
        series = frame.iloc[:, at]
        if not pandas.api.types.is_numeric_dtype(series.dtype):
            series = pandas.Series(pandas.factorize(series)[0], index=frame.index)
        parts[at] = series.astype(float).replace([math.inf, -math.inf], math.nan)
    return pandas.DataFrame(parts, index=frame.index)


def number(value: Any) -> float | None:
    """The number with six digits, more than cross-validation can distinguish; None if not finite."""
    return round(float(value), 6) if math.isfinite(value) else None
