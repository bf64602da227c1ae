"""Writes keywords.txt: the keyword arguments of functions and classes of the managed environment that surely take no
others. Run by the Python of that environment.

    PYTHON keywords.py > keywords.txt

A wrapper may take former names that its signature does not have. So only wrappers that are known to hand their
arguments on as they are count, and everything else that is no plain Python function is left out. Each one that is
listed was called with another keyword and said itself that it does not take it.
"""

import importlib
import inspect
import types
import warnings

warnings.simplefilter("ignore")
# What analysts call. Other modules are not listed, so that the table stays small.
MODULES = """
numpy numpy.linalg pandas plotly.express seaborn scipy.optimize scipy.signal scipy.stats sklearn.cluster
sklearn.compose sklearn.datasets sklearn.decomposition sklearn.dummy sklearn.ensemble sklearn.feature_extraction.text
sklearn.feature_selection sklearn.impute sklearn.inspection sklearn.linear_model sklearn.manifold sklearn.metrics
sklearn.mixture sklearn.model_selection sklearn.naive_bayes sklearn.neighbors sklearn.neural_network sklearn.pipeline
sklearn.preprocessing sklearn.svm sklearn.tree
""".split()
# Module and name of wrappers that hand every keyword on.
PLAIN = {
    ("pandas.util._decorators", "deprecate_nonkeyword_arguments"),
    ("sklearn.utils._param_validation", "validate_params"),
}


def function(found):
    """The plain function that gets the keywords of a call unchanged; none if that is not certain."""
    if type(found).__name__ == "_ArrayFunctionDispatcher":
        found = getattr(found, "_implementation", None)
        return found if isinstance(found, types.FunctionType) and not hasattr(found, "__wrapped__") else None
    while isinstance(found, types.FunctionType) and hasattr(found, "__wrapped__"):
        wrapper = found.__globals__["__name__"], found.__code__.co_qualname.split(".")[0]
        if wrapper not in PLAIN:
            return None
        found = found.__wrapped__
    return found if isinstance(found, types.FunctionType) else None


def called(found):
    """The function that a call of this reaches, and how many of its parameters are bound already."""
    if not isinstance(found, type):
        return function(found), 0
    # `__new__` or a metaclass could change the arguments.
    if inspect.isabstract(found) or found.__new__ is not object.__new__ or type(found).__call__ is not type.__call__:
        return None, 0
    return function(found.__init__), 1


def keywords(plain, bound):
    code = plain.__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    first = max(bound, code.co_posonlyargcount)
    return list(code.co_varnames[first : code.co_argcount + code.co_kwonlyargcount])


def listed():
    for name in MODULES:
        module = importlib.import_module(name)
        for one in sorted(set(dir(module))):
            found = getattr(module, one, None)
            if not one.startswith("_") and callable(found) and not isinstance(found, types.ModuleType):
                yield f"{name}.{one}", found, *called(found)
    import pandas

    for kind in (pandas.DataFrame, pandas.Series):
        for one in sorted(dir(kind)):
            if not one.startswith("_"):
                plain = function(inspect.getattr_static(kind, one))
                yield f"pandas.{kind.__name__}.{one}", getattr(kind(), one, None), plain, 1


def main():
    for path, found, plain, bound in listed():
        names = keywords(plain, bound) if plain else None
        if names is not None and refuses(found, names):
            print(f"{path}:", *names)


def refuses(found, names):
    # With all that it takes: a lack of arguments is another error.
    try:
        found(**dict.fromkeys(names), no_such_keyword=1)
    except TypeError as error:
        return "no_such_keyword" in str(error)
    except Exception:
        return False
    return False


main()
