"""Writes locked.txt: what the libraries of the managed environment have beside the members of members.txt, and what
of these they lack. Run by the Python of that environment; further Pythons say what their standard libraries have.

    PYTHON locked.py [PYTHON...] > locked.txt
"""

import importlib
import json
import pathlib
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).parent
# Package → the distribution that brings it.
PACKAGES = {
    "matplotlib": "matplotlib",
    "numpy": "numpy",
    "pandas": "pandas",
    "plotly": "plotly",
    "pyarrow": "pyarrow",
    "scipy": "scipy",
    "seaborn": "seaborn",
    "sklearn": "scikit-learn",
    "statsmodels": "statsmodels",
    "tqdm": "tqdm",
}


def listed():
    found, members, stdlib = {}, {}, set()
    for line in (HERE / "members.txt").read_text().splitlines():
        head, *names = line.split()
        if head == "stdlib":
            stdlib = set(names)
        elif head[-1] in ":/":
            found.setdefault(head[:-1], set()).update(names)
            if head.endswith(":"):
                members[head[:-1]] = set(names)
    return found, members, stdlib


def public(name):
    try:
        module = importlib.import_module(name)
    except Exception:
        return None
    return {one for one in {*dir(module), *getattr(module, "__all__", ())} if not one.startswith("_")}


def of_stdlib(names):
    return {name: sorted(public(name) or ()) for name in names}


def main():
    known, members, stdlib = listed()
    modules = [name for name in known if name.split(".")[0] in stdlib]
    if sys.argv[1:] == ["-"]:
        return print(json.dumps(of_stdlib(modules)))
    has = {name: set(names) for name, names in of_stdlib(modules).items()}
    for python in sys.argv[1:]:
        run = [python, "-W", "ignore", __file__, "-"]
        for name, names in json.loads(subprocess.check_output(run, cwd="/", text=True)).items():
            has[name] |= set(names)
    for package, distribution in PACKAGES.items():
        print("#", distribution, importlib.import_module(package).__version__)
    for name in sorted(known):
        top = name.split(".")[0]
        names = has[name] if name in has else (public(name) if top in PACKAGES else None)
        if names is None:
            continue
        if more := names - known[name]:
            print(f"{name}:", *sorted(more))
        # A submodule is there although nothing has loaded it.
        lacks = [one for one in members.get(name, set()) - names if top in PACKAGES and not is_there(name, one)]
        if lacks:
            print(f"{name}-", *sorted(lacks))
    import pandas

    for kind in (pandas.DataFrame, pandas.Series):
        print(f"pandas.{kind.__name__}:", *sorted(one for one in dir(kind) if not one.startswith("_")))


def is_there(module, name):
    try:
        getattr(importlib.import_module(module), name)
    except Exception:
        try:
            return importlib.util.find_spec(f"{module}.{name}") is not None
        except Exception:
            return False
    return True


main()
