"""Says what texts that libraries evaluate for a snippet may call: what computes, nothing that writes or sets.

The rules judge such a text where it is written. One that is put together while the snippet runs nobody has read, so
it is judged by what it calls: functions and classes of the snippet, whose code was judged, and members of libraries
that are listed here because they only compute.
"""

from __future__ import annotations

import functools
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from _countersign import errors, memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Refuse = Callable[[str], NoReturn]

# Methods and functions of pandas and numpy that compute a value and do nothing else.
COMPUTING = frozenset(
    "abs absolute add add_categories add_prefix add_suffix align all allclose amax amin angle any append applymap "
    "arange argmax argmin argpartition argsort argwhere around array array_equal array_split as_integer_ratio "
    "as_ordered as_unit as_unordered asanyarray asarray asfreq asof asof_locs assign astimezone astype at_time "
    "atleast_1d atleast_2d autocorr average backfill base_repr bdate_range between between_time bfill binary_repr "
    "bincount bit_count bool broadcast_to busday_count busday_offset capitalize case_when casefold cat ceil center "
    "choose clip column_stack combine combine_first compare compress concat concatenate conj conjugate contains "
    "convert_dtypes convolve copy corr corrcoef correlate corrwith count count_nonzero cov crosstab cross ctime "
    "cumcount cummax cummin cumprod cumsum cumulative_sum cut date date_range day_name decode delete describe diag "
    "diagonal diff difference digitize div divide divmod dot drop drop_duplicates droplevel dropna dst dt duplicated "
    "ediff1d einsum empty encode endswith eq equals ewm expand_dims expanding explode extract extractall eye factorize "
    "ffill fill fillna filter find findall first first_valid_index fix flatnonzero flatten flip floor floordiv "
    "format_float_positional from_arrays from_breaks from_codes from_dict from_dummies from_product from_range "
    "from_records from_tuples fromhex fromisocalendar fromisoformat fromordinal fromtimestamp full full_like fullmatch "
    "ge geomspace get get_dummies get_group get_indexer get_level_values get_loc gradient groupby gt head hex "
    "histogram hstack identical identity idxmax idxmin imag in1d index infer_freq infer_objects inner interp "
    "interpolate intersect1d intersection interval_range is_busday isalnum isalpha isclose iscomplex isdecimal isdigit "
    "isfinite isin isinf islower isna isnan isnull isnumeric isocalendar isoformat isoweekday isreal isscalar isspace "
    "istitle isupper item items iterrows itertuples join keys kron kurt kurtosis last last_valid_index le len lexsort "
    "linspace list ljust log logspace lower lstrip lt mask match max mean median melt memory_usage merge merge_asof "
    "merge_ordered meshgrid min mod mode month_name mul multiply nan_to_num nanargmax nanargmin nancumprod nancumsum "
    "nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim ne nearest ngroup "
    "nlargest nonzero normalize notna notnull now nsmallest nunique ohlc ones ones_like outer overlaps pad partition "
    "pct_change percentile period_range piecewise pivot pivot_table poly polyfit polyval pow prod product ptp qcut "
    "quantile radd rank ravel rdiv rdivmod real reindex reindex_like remove_categories remove_unused_categories "
    "removeprefix removesuffix rename rename_axis rename_categories reorder_categories reorder_levels repeat replace "
    "resample reset_index reshape rfind rfloordiv rindex rjust rmod rmul roll rolling roots rot90 round rpartition "
    "rpow rsplit rstrip rsub rtruediv sample searchsorted select select_dtypes sem set_axis set_categories set_index "
    "set_names setdiff1d setxor1d shape shift sign sinc size skew slice slice_replace sort sort_index sort_values "
    "split squeeze stack startswith std str strftime strip strptime sub subtract sum swapaxes swapcase swaplevel "
    "symmetric_difference tail take tensordot tile time timedelta_range timestamp timetuple title to_datetime "
    "to_datetime64 to_dict to_flat_index to_frame to_julian_date to_list to_numeric to_numpy to_period to_pydatetime "
    "to_pytimedelta to_records to_series to_timedelta to_timedelta64 to_timestamp to_tuples today tolist toordinal "
    "total_seconds trace translate transpose tri tril triu truediv truncate tz_convert tz_localize tzname union "
    "union1d unique unstack unwrap upper utcoffset value_counts vander var vstack weekday where wide_to_long wrap xs "
    "zeros zeros_like zfill".split()
)
# Methods that call what they are given.
ASKING = frozenset("agg aggregate apply map pipe transform".split())
CLASSES = frozenset(
    "Categorical CategoricalDtype CategoricalIndex DataFrame DateOffset DatetimeIndex Index Interval IntervalIndex "
    "MultiIndex NamedAgg Period PeriodIndex RangeIndex Series StringDtype Timedelta TimedeltaIndex Timestamp dtype "
    "poly1d Polynomial vectorize".split()
)
LISTED = ("numpy", "pandas")
# Modules that do nothing but compute.
PURE = (
    "_decimal",
    "_pydatetime",
    "_statistics",
    "calendar",
    "cmath",
    "collections",
    "datetime",
    "dateutil",
    "decimal",
    "formulaic",
    "fractions",
    "math",
    "numbers",
    "numpy.linalg",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.random",
    "pandas._libs.tslibs",
    "patsy",
    "random",
    "re",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.signal",
    "scipy.spatial",
    "scipy.special",
    "scipy.stats",
    "sklearn.metrics",
    "sklearn.preprocessing",
    "statistics",
    "string",
    "time",
    "zoneinfo",
)
# Functions among the builtins that the snippet has stand-ins for, or that call by name.
NOT_PURE = frozenset("breakpoint compile delattr eval exec getattr input open setattr vars".split())
# Methods that pandas calls by name, and that write, read or set; and the beginnings of such names.
PLAIN = frozenset(name for name in COMPUTING if name.startswith("to_"))
LEAVING = frozenset("download dump dumps eval query register serialize_to tofile".split())
BEGINNINGS = ("to_", "fromfile", "genfromtxt", "load", "memmap", "print_", "read_", "register_", "save", "set_print",
              "setbuf", "seterr", "write_")  # fmt: skip


def leaves(name: str) -> bool:
    """Whether a method of this name of a library writes, reads or sets something outside its object."""
    return name in LEAVING or (name.startswith(BEGINNINGS) and name not in PLAIN)


def checked(value: Any, refuse: Refuse) -> Any:
    """What a text reads: unchanged, if the text may call it."""
    if callable(value):
        name = called(value)
        if name in ASKING and not is_own(value):
            return asked(value, refuse)
        if not may(value):
            refuse(f"text that is evaluated calls nothing but what computes: {name:.50} is not on the list")
    return value


def spread(values: Any, refuse: Refuse) -> Any:
    """The same for what `*` and `**` unpack."""
    if hasattr(values, "keys"):
        return {key: deeply(values[key], refuse) for key in values.keys()}  # noqa: SIM118 - a mapping of any class
    return [deeply(value, refuse) for value in values]


def deeply(value: Any, refuse: Refuse) -> Any:
    """Checks a function, or those that a list or a dict holds; returns the copy that was checked."""
    if isinstance(value, dict):
        return {key: deeply(one, refuse) for key, one in dict.items(value)}
    if type(value) in (list, tuple, set):
        return type(value)(deeply(one, refuse) for one in value)
    return checked(value, refuse)


def asked(function: Any, refuse: Refuse) -> Any:
    """The method, whose arguments are checked as what the text reads."""

    @functools.wraps(function, updated=())
    def ask(*args: Any, **kwargs: Any) -> Any:
        return function(*spread(args, refuse), **spread(kwargs, refuse))

    return ask


def called(value: Any) -> str:
    name = getattr(value, "__name__", None)
    return name if type(name) is str else type(value).__name__


def is_own(value: Any) -> bool:
    """Whether it is code of the snippet."""
    code = getattr(getattr(value, "__func__", value), "__code__", None)
    return isinstance(value, (FunctionType, MethodType)) and code.co_filename == errors.SNIPPET  # type: ignore[union-attr]  # a function has code


def may(value: Any, depth: int = 0) -> bool:
    """Whether a text may call this."""
    if depth > 8:
        return False
    if isinstance(value, type):
        return may_make(value)
    if is_own(value):
        return True
    if isinstance(value, functools.partial):
        return may(value.func, depth + 1)
    kind = type(value)
    if kind in (FunctionType, MethodType):
        inner = value.__func__ if kind is MethodType else value
        return kind_may(str(getattr(inner, "__module__", "")), called(value))
    if kind is BuiltinFunctionType or hasattr(value, "__objclass__"):
        # Of a class, an object of one, or a module.
        owner = getattr(value, "__objclass__", None) or value.__self__
        if isinstance(owner, ModuleType):
            return kind_may(owner.__name__, called(value))
        return kind_may(memory.home(owner), called(value))
    home = memory.home(value)
    if home == "builtins" or "cython" in kind.__name__:
        return kind_may(str(getattr(value, "__module__", "")), called(value))
    if (wrapped := getattr(value, "__wrapped__", None)) is not None:
        return may(wrapped, depth + 1)
    # An object that can be called: one of the snippet's class, or what a library made. Those of `operator` call a
    # method by its name, those of pandas set options and draw, but for `loc` and its like.
    return home == "pandas.core.indexing" or memory.within(home, ("operator", "_operator", "pandas")) is None


def kind_may(home: str, name: str) -> bool:
    """Whether a text may call a function of this name and home."""
    if memory.within(home, PURE):
        return True
    if home == "builtins":
        return name not in NOT_PURE
    if home.startswith("_countersign."):
        # Stand-ins of the runner for methods of libraries.
        return name in COMPUTING or name == "named"
    return memory.within(home, LISTED) is not None and (name in COMPUTING or name in ASKING)


def may_make(kind: type) -> bool:
    """Whether a text may make objects of the class: a class of the snippet's must have no other bases."""
    home, name = memory.home(kind), type.__dict__["__name__"].__get__(kind)
    if home == "__main__":
        bases: tuple[type, ...] = type.__dict__["__bases__"].__get__(kind)
        return all(base is object or may_make(base) for base in bases)
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(kind, (numpy.generic, numpy.ufunc)):
        return True
    if home in ("abc", "builtins", "enum", "typing") or memory.within(home, PURE):
        return True
    return memory.within(home, LISTED) is not None and name in CLASSES
