"""Writes members.txt: what `"*"` stands for in a policy's [imports].

For every module that a policy here lists with "*": its public members that are not modules;
after `/`, those of its members that are modules; after `>`, members that are modules under
another name. Standard library lists are the union over the Pythons given.

    python generate.py PYTHON... > members.txt

The first PYTHON has the libraries installed; the others need none. Review the difference
before committing it: each new name becomes allowed.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent

PROBE = r"""
import importlib, json, pkgutil, sys, types, warnings
warnings.simplefilter("ignore")
out = {"python": sys.version.split()[0], "versions": {}, "modules": {}, "stdlib": sorted(sys.stdlib_module_names)}
wanted = json.load(sys.stdin)
tops = {name.split(".")[0] for name in wanted}
for name in wanted:
    try:
        module = importlib.import_module(name)
    except Exception:
        continue
    top = sys.modules[name.split(".")[0]]
    version = getattr(top, "__version__", None)
    if isinstance(version, str) and top.__name__ not in sys.stdlib_module_names:
        out["versions"][top.__name__] = version
    members, modules, others = set(), set(), {}
    names = set(dir(module)) | set(getattr(module, "__all__", ()))
    for member in names:
        if member.startswith("_"):
            continue
        try:
            value = getattr(module, member)
        except Exception:
            continue
        if isinstance(value, types.ModuleType):
            modules.add(member)
            if value.__name__ != name + "." + member and value.__name__.split(".")[0] == name.split(".")[0]:
                others[member] = value.__name__
            continue
        # What a library merely imported from elsewhere (pathlib.Path, subprocess.run) is not its member.
        origin = getattr(value, "__module__", None)
        own = name.split(".")[0]
        home = origin.split(".")[0] if isinstance(origin, str) else own
        near = {own, "_" + own, "builtins", "_blake2", "_plotly_utils", "cycler", "dateutil", "importlib"}
        if home not in tops | near or member == "import_module":
            print("left out:", name, member, "from", origin, file=sys.stderr)
        else:
            members.add(member)
    # Submodules that nobody imported yet are modules all the same.
    for info in pkgutil.iter_modules(getattr(module, "__path__", [])):
        if not info.name.startswith("_") and info.name not in members:
            modules.add(info.name)
    out["modules"][name] = [sorted(members), sorted(modules), others]
json.dump(out, sys.stdout)
"""


def wanted():
    import tomllib

    names = set()
    for path in sorted(HERE.parent.glob("*.toml")):
        imports = tomllib.loads(path.read_text()).get("imports", {})
        names |= {m for m in imports if m != "*"}
    return sorted(names)


def main():
    names = wanted()
    found = []
    for python in sys.argv[1:]:
        run = subprocess.run([python, "-W", "ignore", "-c", PROBE], input=json.dumps(names), stdout=subprocess.PIPE, text=True, check=True)
        found.append(json.loads(run.stdout))
    versions = {}
    stdlib = set()
    for one in found:
        versions |= one["versions"]
        stdlib |= set(one["stdlib"])
    print("# python", " ".join(one["python"] for one in found))
    for name, version in sorted(versions.items()):
        print("#", name, version)
    print("stdlib", *sorted(n for n in stdlib if not n.startswith("_")))
    for name in names:
        members, modules, others = set(), set(), {}
        for one in found:
            if name in one["modules"]:
                m, s, o = one["modules"][name]
                members |= set(m)
                modules |= set(s)
                others |= o
        # Each package's self-test runs pytest.
        members -= {"test", "PytestTester"}
        members -= modules
        if members or modules:
            print(name + ":", *sorted(members))
        if modules:
            print(name + "/", *sorted(modules))
        for member, target in sorted(others.items()):
            if target in names:
                print(name + ">", member, target)


main()
