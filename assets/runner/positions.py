"""Positions that compiled code of scipy, scikit-learn and matplotlib takes as they are: pivots, rows, neighbours.

`memory` has what is said of attributes; here are the calls, and what is set on objects.
"""

from __future__ import annotations

import functools
import os
import sys

from _countersign import loaded, memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from _countersign.gates import Gates


def close(gates: Gates) -> None:
    loaded.change(["scipy.linalg.lapack"], lambda module: pivoted(module, gates))
    loaded.change(["scipy.linalg._decomp_lu"], lambda module: solving(module, gates))
    loaded.change(["scipy.sparse._compressed"], lambda module: made(module, "_cs_matrix"))
    loaded.change(["scipy.sparse._bsr"], lambda module: made(module, "_bsr_base"))
    loaded.change(["scipy.sparse._coo"], lambda module: made(module, "_coo_base"))
    loaded.change(["scipy.sparse._base"], lambda module: final(module, gates))
    loaded.change(["sklearn.tree._classes"], columns)
    loaded.change(["sklearn.ensemble._gb"], stages)
    loaded.change(["sklearn.svm._base"], vectors)
    loaded.change(["sklearn.feature_extraction._hash"], buckets)
    loaded.change(["sklearn.base"], lambda module: properties(module, gates))


# -- pivots


def pivoted(lapack: Any, gates: Gates) -> None:
    """Of LAPACK: what takes pivots swaps the rows that they name."""

    def checked(found: Any) -> Any:
        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            within([*args, *kwargs.values()])
            return found(*args, **kwargs)

        return call

    given = gates.narrow.instead
    for found in list(vars(lapack).values()):
        if type(found).__name__ == "fortran" and "piv" in (found.__doc__ or ""):
            given[id(found)] = checked(found)
    names = lapack.get_lapack_funcs

    @functools.wraps(names)
    def get_lapack_funcs(*args: Any, **kwargs: Any) -> Any:
        found = names(*args, **kwargs)
        if isinstance(found, (list, tuple)):
            return [given.get(id(one), one) for one in found]
        return given.get(id(found), found)

    given[id(names)] = get_lapack_funcs


def solving(module: Any, gates: Gates) -> None:
    plain = module.lu_solve

    @functools.wraps(plain)
    def lu_solve(lu_and_piv: Any, *args: Any, **kwargs: Any) -> Any:
        lu, piv = lu_and_piv
        # A copy: what was looked at is what is used.
        piv = module.np.array(piv)
        within([lu, piv])
        return plain((lu, piv), *args, **kwargs)

    gates.narrow.instead[id(plain)] = lu_solve


def within(args: list[Any]) -> None:
    """Raises for whole numbers that are no rows of the matrices beside them."""
    import numpy

    arrays = [numpy.asarray(one) for one in args if isinstance(one, (numpy.ndarray, list, tuple))]
    rows = max((max(one.shape, default=0) for one in arrays if one.dtype.kind in "fc"), default=0)
    for one in arrays:
        if one.dtype.kind in "iu" and one.size and (one.min() < -rows or one.max() > rows):
            raise ValueError(f"a pivot lies outside the {rows} rows of the matrix")


# -- sparse matrices


def made(module: Any, name: str) -> None:
    """A matrix that is made of arrays by anybody but the library has its own, and they fit. The library's
    readers take the arrays from a file, and scikit-learn makes them by what an object says of its fit."""
    kind = getattr(module, name)
    plain = kind.__init__
    scipy = os.path.dirname(module.__file__)
    sklearn = os.path.join(os.path.dirname(os.path.dirname(scipy)), "sklearn", "")

    @functools.wraps(plain)
    def __init__(self: Any, arg1: Any, *args: Any, **kwargs: Any) -> None:
        by = sys._getframe(1).f_code.co_filename
        folder, _, file = by.rpartition(os.sep)
        if not isinstance(arg1, tuple) or (folder == scipy and file not in READERS):
            plain(self, arg1, *args, **kwargs)
            return
        fitted = by.startswith(sklearn)
        if len(args) < 3 and not fitted:
            kwargs["copy"] = True
        plain(self, arg1, *args, **kwargs)
        try:
            fits(self)
        except ValueError as error:
            if not fitted:
                raise
            changed = "what it was fitted with (a vocabulary, categories, a number of features) was changed"
            raise ValueError(f"{error}: {changed}") from None

    kind.__init__ = __init__


def final(module: Any, gates: Gates) -> None:
    """Compiled code asks a matrix for its arrays by name, and a class made from it can answer anything."""

    def __init_subclass__(cls: type, **kwargs: Any) -> None:
        if cls.__module__ == "__main__":
            gates.refuse("a class made from a sparse matrix is not allowed")
        super(module._spbase, cls).__init_subclass__(**kwargs)

    module._spbase.__init_subclass__ = classmethod(__init_subclass__)  # type: ignore[arg-type]  # Python gives `cls` by position


# Files of scipy.sparse that read matrices.
READERS = ("_matrix_io.py",)


def fits(matrix: Any) -> None:
    """Raises for positions outside a matrix."""
    if not hasattr(matrix, "check_format"):
        return
    indptr = matrix.indptr
    # `check_format` does not look where the last one says that there is nothing.
    if (indptr[1:] < indptr[:-1]).any():
        raise ValueError("indptr must be a non-decreasing sequence")
    matrix.check_format(full_check=True)


# -- trees


def columns(module: Any) -> None:
    """A tree reads the columns that it was fitted with, whether or not the input is checked."""
    kind = module.BaseDecisionTree
    plain = kind._validate_X_predict

    @functools.wraps(plain)
    def validate(self: Any, X: Any, check_input: Any) -> Any:  # noqa: N803 - its name there
        found = plain(self, X, check_input)
        fitted = self.tree_.n_features
        if found.shape[1] != fitted:
            raise ValueError(f"the tree was fitted with {fitted} features")
        return found

    kind._validate_X_predict = validate


def stages(module: Any) -> None:
    """Boosting adds what each tree says to the column of its number, and asks only the first for its features."""
    from sklearn.tree import _classes

    def looked(plain: Any, rows: Any) -> Any:
        @functools.wraps(plain)
        def predict(estimators: Any, *args: Any) -> Any:
            *at, X, _, out = args  # noqa: N806 - its name there
            if estimators.ndim != 2 or out.shape != (X.shape[0], estimators.shape[1]):
                raise ValueError("estimators_ has another number of trees for each row than it was fitted with")
            for tree in rows(estimators, *at).flat:
                if type(tree) is not _classes.DecisionTreeRegressor or tree.tree_.n_features != X.shape[1]:
                    raise ValueError("estimators_ holds a tree that was not fitted with these features")
            return plain(estimators, *args)

        return predict

    module.predict_stages = looked(module.predict_stages, lambda estimators: estimators)
    module.predict_stage = looked(module.predict_stage, lambda estimators, at: estimators[at : at + 1])


# -- support vectors, buckets


def vectors(module: Any) -> None:
    """libsvm goes by the numbers of vectors of each class, and by their rows in a kernel that was computed."""
    kind = module.BaseLibSVM
    plain = kind._validate_for_predict

    @functools.wraps(plain)
    def validate(self: Any, X: Any) -> Any:  # noqa: N803 - its name there
        found = plain(self, X)
        held = self.support_vectors_.shape[0]
        counts, support, weights = self.n_support_, self.support_, self._dual_coef_
        rows = max(len(counts) - 1, 1)
        size = weights.data.size if self._sparse else weights.size
        problem = None
        if counts.size and (counts.min() < 0 or (held and counts.sum() != held)):
            problem = "n_support_"
        elif held and size != rows * held:
            problem = "dual_coef_"
        elif self.kernel == "precomputed" and support.size:
            held = len(support)
            if support.min() < 0 or support.max() >= found.shape[1] or counts.sum() != held:
                problem = "support_"
        if problem:
            raise ValueError(f"{problem} is not what it was fitted with")
        return found

    kind._validate_for_predict = validate


def buckets(module: Any) -> None:
    """The rest of a division by it: a number that is set later is not looked at."""
    plain = module._hashing_transform

    @functools.wraps(plain)
    def transform(raw_X: Any, n_features: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N803 - its name there
        if n_features < 1:
            raise ValueError(f"n_features is at least 1, not {n_features}")
        return plain(raw_X, n_features, *args, **kwargs)

    module._hashing_transform = transform


def properties(module: Any, gates: Gates) -> None:
    """What a fit leaves is an attribute. A property in its place answers one thing to who looks, and another to
    compiled code."""
    kind = module.BaseEstimator

    def __init_subclass__(cls: type, **kwargs: Any) -> None:
        if cls.__module__ == "__main__" and memory.of(cls, COMPILED):
            for name, found in vars(cls).items():
                fitted = name.endswith("_") or (name.startswith("_") and not name.startswith("__"))
                if fitted and not name.endswith("__") and hasattr(type(found), "__set__"):
                    known = any(name in vars(one) for one in cls.__mro__[1:])
                    if not known or not isinstance(found, property):
                        gates.refuse(f"a property {name} in a class made from an estimator is not allowed")
        super(kind, cls).__init_subclass__(**kwargs)

    kind.__init_subclass__ = classmethod(__init_subclass__)  # type: ignore[arg-type]  # as above


# Whose compiled code reads what a fit left.
COMPILED = tuple(
    f"sklearn.{name}" for name in "cluster decomposition ensemble linear_model manifold neighbors svm tree".split()
)
