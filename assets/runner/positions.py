"""Checks positions that compiled code of pandas, scipy, scikit-learn and matplotlib trusts: pivots, rows, codes.

`memory` guards attributes; this file guards calls, and values set on objects.
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
    loaded.change(["scipy.cluster.hierarchy"], merges)
    loaded.change(["pandas.core.window.rolling"], windows)
    loaded.change(["pandas.core.indexes.multi"], levels)
    loaded.change(["pandas.core.groupby.groupby"], grouped)
    loaded.change(["pandas._libs.sparse"], lambda module: indices(module, gates))
    loaded.change(["matplotlib.tri._triangulation"], corners)
    loaded.change(["sklearn.tree._classes"], columns)
    loaded.change(["sklearn.ensemble._gb"], stages)
    loaded.change(["sklearn.linear_model._coordinate_descent"], paths)
    loaded.change(["scipy.interpolate._fitpack_impl"], knots)
    loaded.change(["sklearn.svm._base"], vectors)
    loaded.change(["scipy.spatial.distance"], distances)
    loaded.change(["sklearn.feature_extraction._hash"], buckets)
    loaded.change(["scipy.odr._odrpack"], restarts)
    loaded.change(["sklearn.manifold._t_sne"], embedded)
    loaded.change(["sklearn.base"], lambda module: properties(module, gates))


# -- pivots

# Parts of the names of arguments with row numbers, in the signatures that f2py writes.
NAMING_ROWS = ("piv", "pvt", "iblock", "isplit")


def pivoted(lapack: Any, gates: Gates) -> None:
    """Guards LAPACK functions that take pivots or blocks, because they work on the rows that these name."""

    def checked(found: Any) -> Any:
        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            within([*args, *kwargs.values()])
            return found(*args, **kwargs)

        return call

    given = gates.narrow.instead
    for found in list(vars(lapack).values()):
        if type(found).__name__ == "fortran" and any(word in (found.__doc__ or "") for word in NAMING_ROWS):
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
        # Copied, so that the checked values are the ones used.
        piv = module.np.array(piv)
        within([lu, piv])
        return plain((lu, piv), *args, **kwargs)

    gates.narrow.instead[id(plain)] = lu_solve


def within(args: list[Any]) -> None:
    """Raises for integers that are not rows of the matrices beside them."""
    import numpy

    arrays = [numpy.asarray(one) for one in args if isinstance(one, (numpy.ndarray, list, tuple))]
    rows = max((max(one.shape, default=0) for one in arrays if one.dtype.kind in "fc"), default=0)
    for one in arrays:
        if one.dtype.kind in "iu" and one.size and (one.min() < -rows or one.max() > rows):
            raise ValueError(f"a pivot lies outside the {rows} rows of the matrix")


# -- sparse matrices


def made(module: Any, name: str) -> None:
    """Copies and checks the arrays of a new matrix, unless the library itself makes it. Matrices of the
    library's readers are checked too, because their arrays come from a file, and those of scikit-learn, because
    an object's attributes decide them."""
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
    """Forbids subclasses of matrices: compiled code reads a matrix's arrays by name, and a subclass can
    answer anything."""

    def __init_subclass__(cls: type, **kwargs: Any) -> None:
        if cls.__module__ == "__main__":
            gates.refuse("a class made from a sparse matrix is not allowed")
        super(module._spbase, cls).__init_subclass__(**kwargs)

    module._spbase.__init_subclass__ = classmethod(__init_subclass__)  # type: ignore[arg-type]  # Python gives `cls` by position


# Files of scipy.sparse that read matrices.
READERS = ("_matrix_io.py",)


def fits(matrix: Any) -> None:
    """Raises for positions outside the matrix."""
    if not hasattr(matrix, "check_format"):
        return
    indptr = matrix.indptr
    # `check_format` skips this check where the last entry of `indptr` is 0.
    if (indptr[1:] < indptr[:-1]).any():
        raise ValueError("indptr must be a non-decreasing sequence")
    matrix.check_format(full_check=True)


# -- triangles, linkages, trees


def corners(module: Any) -> None:
    """Checks a triangulation when its compiled part is made: that part uses the point and neighbour numbers of this
    moment."""
    kind, numpy = module.Triangulation, module.np
    plain = kind.get_cpp_triangulation

    @functools.wraps(plain)
    def get_cpp_triangulation(self: Any) -> Any:
        if self._cpp_triangulation is not None:
            return plain(self)
        was = self.x, self.y, self.triangles
        self.x, self.y, self.triangles = numpy.array(was[0]), numpy.array(was[1]), numpy.array(was[2])
        try:
            points = self.x.size
            if self.x.shape != (points,) or self.y.shape != (points,):
                raise ValueError("x and y of a triangulation have one length")
            if self.triangles.size and not 0 <= self.triangles.min() <= self.triangles.max() < points:
                raise ValueError("a triangle has a corner that is none of the points")
            return plain(self)
        finally:
            self.x, self.y, self.triangles = was

    def looked(name: str) -> property:
        found = vars(kind)[name].fget
        return property(lambda self: numpy.array(found(self)), doc=found.__doc__)

    kind.get_cpp_triangulation = get_cpp_triangulation
    kind.edges, kind.neighbors = looked("edges"), looked("neighbors")


def merges(module: Any) -> None:
    """Checks the cluster numbers in a linkage: nan passes scipy's own comparisons."""
    compiled = module._hierarchy
    for name in LINKED:
        if hasattr(compiled, name):
            setattr(compiled, name, linked(getattr(compiled, name)))
    ordering = module._optimal_leaf_ordering
    ordering.optimal_leaf_ordering = linked(ordering.optimal_leaf_ordering)


def linked(plain: Any) -> Any:
    """The function, with its first argument checked as a linkage and the next ones for an entry for each of
    its rows."""

    @functools.wraps(plain)
    def call(linkage: Any, *args: Any) -> Any:
        import numpy

        made = numpy.arange(len(linkage) + 1, 2 * len(linkage) + 1)[:, None]
        merged = numpy.asarray(linkage)[:, :2]
        # Written so that nan fails too.
        if not ((merged >= 0) & (merged < made)).all():
            raise ValueError("a linkage merges clusters that are not made before")
        for one in args[:1]:
            if isinstance(one, numpy.ndarray) and len(one) < len(linkage):
                raise ValueError(f"{len(one)} values are too few for a linkage of {len(linkage)} rows")
        return plain(linkage, *args)

    return call


# Compiled functions whose first argument is a linkage.
LINKED = (
    "calculate_cluster_sizes cluster_dist cluster_in cluster_maxclust_dist cluster_maxclust_monocrit cluster_monocrit "
    "cophenetic_distances get_max_Rfield_for_each_cluster get_max_dist_for_each_cluster inconsistent leaders prelist"
).split()


def columns(module: Any) -> None:
    """Checks the number of columns: a tree reads those it was fitted with, even if the input is not checked."""
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
    """Checks every tree: boosting writes each tree's result to the column of its number, and reads the
    feature count from the first tree only."""
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


# -- coefficients, knots


def paths(module: Any) -> None:
    """Checks lengths for coordinate descent, which writes a coefficient and reads a product for each feature."""
    plain = module.enet_path

    @functools.wraps(plain)
    def enet_path(X: Any, y: Any, **options: Any) -> Any:  # noqa: N803 - its name there
        features = module.np.shape(X)[-1]
        for name, at in (("coef_init", -1), ("Xy", 0)):
            given = options.get(name)
            if given is not None and (module.np.shape(given) or (0,))[at] != features:
                raise ValueError(f"{name} has no value for each of the {features} features")
        return plain(X, y, **options)

    module.enet_path = enet_path


def knots(module: Any) -> None:
    """Checks the number of coefficients: FITPACK reads as many as knots and degree imply."""

    def fitting(plain: Any, at: int) -> Any:
        @functools.wraps(plain)
        def call(*args: Any, **kwargs: Any) -> Any:
            tck = args[at] if len(args) > at else kwargs.get("tck")
            if isinstance(tck, (tuple, list)) and len(tck) == 3:
                t, c, k = tck
                rows = c if len(c) and module.np.ndim(c[0]) else [c]
                if k < 0 or len(t) < 2 * k + 2 or any(len(row) < len(t) - k - 1 for row in rows):
                    raise ValueError("a spline has 2 k + 2 knots or more, and a coefficient for each but k + 1")
            return plain(*args, **kwargs)

        return call

    for name, at in (("splev", 1), ("splint", 2), ("sproot", 0), ("spalde", 1), ("insert", 1)):
        if hasattr(module, name):
            setattr(module, name, fitting(getattr(module, name), at))


# -- support vectors, buckets


def vectors(module: Any) -> None:
    """Checks a fitted model for libsvm, which trusts the counts of vectors per class and their rows in a
    precomputed kernel."""
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
    for name in ("decision_function", "predict", "predict_proba"):
        setattr(module.libsvm, name, supported(getattr(module.libsvm, name)))


# The number of its kind of machine in `svm_type`: those before have classes.
ONE_CLASS = 2


def supported(plain: Any) -> Any:
    """The function of libsvm, with its support checked against a computed kernel: a kernel of the snippet's runs after
    `_validate_for_predict`."""

    @functools.wraps(plain)
    def call(rows: Any, support: Any, vectors: Any, counts: Any, weights: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("kernel") == "precomputed":
            held, columns = len(support), rows.shape[1] if rows.ndim == 2 else 0
            if held and (support.min() < 0 or support.max() >= columns):
                raise ValueError(f"the kernel has {columns} columns, and the fit was supported by others")
            # Regressions and one class repeat the count for a class that they do not have.
            classes = counts if kwargs.get("svm_type", 0) < ONE_CLASS else counts[:1]
            if classes.sum() != held or weights.shape != (max(len(classes) - 1, 1), held):
                raise ValueError("the support is not what it was fitted with")
        return plain(rows, support, vectors, counts, weights, *args, **kwargs)

    return call


def distances(module: Any) -> None:
    """Checks the size of the matrix of a Mahalanobis distance."""
    compiled = module._distance_wrap

    def sized(plain: Any) -> Any:
        @functools.wraps(plain)
        def call(*args: Any, **kwargs: Any) -> Any:
            columns = args[0].shape[1]
            # Its last argument.
            inverse = kwargs["VI"] if "VI" in kwargs else args[-1]
            if inverse.shape != (columns, columns):
                raise ValueError(f"VI has {columns} rows and columns, one for each column of the data")
            return plain(*args, **kwargs)

        return call

    for name in ("cdist_mahalanobis_double_wrap", "pdist_mahalanobis_double_wrap"):
        setattr(compiled, name, sized(getattr(compiled, name)))


def buckets(module: Any) -> None:
    """Checks `n_features` when it is used as a divisor: the library does not check a number that was set later."""
    plain = module._hashing_transform

    @functools.wraps(plain)
    def transform(raw_X: Any, n_features: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N803 - its name there
        if n_features < 1:
            raise ValueError(f"n_features is at least 1, not {n_features}")
        return plain(raw_X, n_features, *args, **kwargs)

    module._hashing_transform = transform


def properties(module: Any, gates: Gates) -> None:
    """Forbids properties in place of fitted attributes: a property could answer one thing to the check and another to
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


# Packages whose compiled code reads fitted attributes.
COMPILED = tuple(
    f"sklearn.{name}" for name in "cluster decomposition ensemble linear_model manifold neighbors svm tree".split()
)


# -- states of fits


def restarts(module: Any) -> None:
    """Checks the integers with which a fit of ODRPACK goes on: they are places in its own memory, so they must be those
    that a fit has left."""
    plain = module.odr
    left: set[bytes] = set()

    @functools.wraps(plain)
    def odr(*args: Any, **kwargs: Any) -> Any:
        numpy = sys.modules["numpy"]
        if kwargs.get("iwork") is not None:
            # Copied, so that the checked values are the ones used.
            kwargs["iwork"] = numpy.array(kwargs["iwork"])
            if kwargs["iwork"].tobytes() not in left:
                raise ValueError("iwork is not what a fit has left")
        found = plain(*args, **kwargs)
        if isinstance(found[-1], dict) and "iwork" in found[-1]:
            left.add(found[-1]["iwork"].tobytes())
        return found

    module.odr = odr


def embedded(module: Any) -> None:
    """Checks the points of t-SNE: the tree that takes them in has no place for what is not a number."""
    plain = module._kl_divergence_bh

    @functools.wraps(plain)
    def _kl_divergence_bh(params: Any, *args: Any, **kwargs: Any) -> Any:
        if not sys.modules["numpy"].isfinite(params).all():
            raise ValueError("a point of the embedding is not finite")
        return plain(params, *args, **kwargs)

    module._kl_divergence_bh = _kl_divergence_bh


# -- windows and codes of tables


def windows(rolling: Any) -> None:
    """Checks that windows lie in the table, and copies the bounds of an indexer of the snippet's: a thread could change
    them after the check."""
    plain = rolling.BaseWindow._check_window_bounds
    indexers = rolling.BaseWindow._get_window_indexer

    @functools.wraps(indexers)
    def get_window_indexer(self: Any) -> Any:
        found = indexers(self)
        return Bounds(found) if memory.home(found) == "__main__" else found

    rolling.BaseWindow._get_window_indexer = get_window_indexer

    @functools.wraps(plain)
    def check(self: Any, start: Any, end: Any, num_vals: int) -> None:
        plain(self, start, end, num_vals)
        if len(start) and (min(start) < 0 or max(end) > num_vals or max(start) > num_vals):
            raise ValueError("the bounds of a window lie outside the table")

    rolling.BaseWindow._check_window_bounds = check


class Bounds:
    """Stands for an indexer and gives copies of its bounds."""

    def __init__(self, indexer: Any) -> None:
        self._indexer = indexer

    def get_window_bounds(self, *args: Any, **kwargs: Any) -> Any:
        numpy = sys.modules["numpy"]
        return tuple(map(numpy.array, self._indexer.get_window_bounds(*args, **kwargs)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._indexer, name)


def grouped(module: Any) -> None:
    """Checks that a table has as many rows as when it was grouped: compiled code reads a group's number for each."""

    def read(self: Any) -> Any:
        found = vars(self)["obj"]
        grouper = vars(self).get("_grouper")
        if grouper is not None:
            bins = getattr(grouper, "bins", None)
            known = len(grouper.axis) if bins is None else bins[-1] if len(bins) else None
            if known is not None and len(found.axes[vars(self).get("axis", 0)]) > known:
                raise ValueError("the table has more rows than when it was grouped: group it again")
        return found

    def write(self: Any, new: Any) -> None:
        vars(self)["obj"] = new

    kind = module.GroupBy
    kind.obj = property(read, write)

    def checked(kept: Any) -> property:
        return property(lambda self: (read(self), kept.__get__(self, type(self)))[1])

    for name in ("_obj_with_exclusions", "_selected_obj"):
        kept = next(vars(one)[name] for one in kind.__mro__ if name in vars(one))
        setattr(kind, name, checked(kept))


def levels(multi: Any) -> None:
    """Verifies codes, except in calls by pandas itself, whose codes are valid."""
    own = os.path.dirname(os.path.dirname(os.path.dirname(multi.__file__))) + os.sep

    def looked(plain: Any) -> Any:
        @functools.wraps(plain)
        def call(*args: Any, **kwargs: Any) -> Any:
            if called_by(own):
                return plain(*args, **kwargs)
            # Whoever made the codes may write to them later.
            made = plain(*owned(args), **{name: owned(one) for name, one in kwargs.items()})
            # `verify_integrity` would change codes of missing values that pandas itself makes without it.
            codes = [one for one in made.codes if len(one) == len(made.codes[0])]
            fit = (
                not len(one) or -1 <= one.min() <= one.max() < len(of)
                for of, one in zip(made.levels, codes, strict=False)
            )
            if len(codes) != len(made.levels) or not all(fit):
                raise ValueError("a code is the number of no value of its level")
            return made

        return call

    multi.MultiIndex.__new__ = staticmethod(looked(multi.MultiIndex.__new__))
    for name in ("set_codes", "set_levels"):
        setattr(multi.MultiIndex, name, looked(getattr(multi.MultiIndex, name)))


def owned(value: Any) -> Any:
    """The value with its arrays, also those in lists, copied."""
    if type(value) in (list, tuple):
        return type(value)(map(owned, value))
    return value.copy() if type(value).__name__ == "ndarray" else value


# Files in which a library calls functions that it was handed.
HANDED = ("common.py", "apply.py", "generic.py", "_function_transformer.py")


def called_by(folder: str | tuple[str, ...]) -> bool:
    """Whether the caller's caller is a library's code that calls for itself, not on behalf of a function it
    was handed."""
    file = sys._getframe(2).f_code.co_filename
    return file.startswith(folder) and not file.endswith(HANDED)


def indices(module: Any, gates: Gates) -> None:
    for name in ("IntIndex", "BlockIndex"):
        kind = getattr(module, name)
        gates.narrow.instead[id(kind)] = gates.narrow.refused(f"making a {name}")
