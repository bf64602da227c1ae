"""The policy's lists, and how each judges one name."""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Never given under the guard, even if a policy lists them: each is a way around all other rules.
NEVER = frozenset("eval exec compile globals vars breakpoint input help __import__".split())

# Every builtin name of an ordinary Python. `site` adds the last ones; it does not run here.
BUILT_IN = frozenset(dir(builtins)) | frozenset("exit quit copyright credits license help".split())

# Special names that modules, classes, methods or builtins have without the snippet binding them. The analyser has the
# same list.
THERE = frozenset(
    "__annotations__ __build_class__ __builtins__ __class__ __debug__ __doc__ __import__ __loader__ "
    "__module__ __name__ __package__ __qualname__ __spec__".split()
)

# Public names with an underscore, of named tuples and values shown in a notebook.
UNDERSCORED = frozenset("_asdict _field_defaults _fields _make _replace _repr_html_".split())

# Attributes from which numpy takes an address.
ADDRESSES = ("__array_interface__", "__array_struct__")


# A module's own name → its name in policies.
LISTED_AS = {"posixpath": "os.path", "_plotly_utils.colors": "plotly.colors"} | {
    f"_plotly_utils.colors.{name}": f"plotly.colors.{name}"
    for name in "carto cmocean colorbrewer cyclical diverging plotlyjs qualitative sequential".split()
}


class Rules:
    """A policy's rules; read-only. The policy's own type documents each list."""

    def __init__(self, policy: dict[str, Any]) -> None:
        self.imports = {name: frozenset(members) for name, members in policy["imports"].items()}
        # `import a.b.c` binds `a`: the path from `a` to `c` is allowed, and nothing else in those packages.
        self.packages = frozenset(above for name in self.imports for above in packages(name))
        self.builtins = listed(policy["builtins"], BUILT_IN) - NEVER
        attributes = policy["attributes"]
        self.denied = frozenset(attributes["deny"])
        self.read = frozenset(attributes["allow_dunder"])
        self.defined = self.read | frozenset(attributes.get("define_dunder", ()))
        self.nodes = frozenset(policy["nodes"])
        self.exits = "exit" in self.imports.get("sys", ())

    def node_problem(self, kind: str) -> str | None:
        """Judges a node type. Anything not listed is refused, so node types of a later Python are refused too;
        `*` has no meaning in this list."""
        if kind in self.nodes:
            return None
        return f"{kind} is not allowed"

    def name_problem(self, name: str, allowed: frozenset[str]) -> str | None:
        """Judges a name that is read (`self.read`), or that is bound or declared (`self.defined`)."""
        if is_dunder(name) and name not in allowed and "*" not in self.read:
            return f"the name {name} is not allowed"
        return None

    def unbound_problem(self, name: str) -> str | None:
        """Judges a name that the snippet reads but does not bind."""
        if name.startswith("__") and name not in self.read and "*" not in self.read:
            return f"the name {name} is not allowed"
        return self.builtin_problem(name)

    def attribute_problem(self, name: str, allowed: frozenset[str]) -> str | None:
        """Judges an attribute of any object."""
        if name in self.denied:
            return f"the attribute {name} is not allowed"
        if name.startswith("__") and name not in allowed and "*" not in self.read:
            return f"the attribute {name} is not allowed"
        return None

    def builtin_problem(self, name: str) -> str | None:
        """Judges a builtin name that the snippet reads but does not bind."""
        if name in BUILT_IN and name not in self.builtins and name not in self.read:
            return f"{name} is not allowed"
        return None

    def module_problem(self, module: str) -> str | None:
        if module in self.imports or "*" in self.imports:
            return None
        return f"the module {module} is not allowed"

    def member_problem(self, module: str, member: str) -> str | None:
        """Judges `from module import member`, and reading a member that is not a module."""
        module = LISTED_AS.get(module, module)
        if "*" in self.imports or f"{module}.{member}" in self.imports:
            return None
        members = self.imports.get(module, frozenset())
        public = not member.startswith("_") or member in self.read
        if member in members or ("*" in members and f"-{member}" not in members and public):
            return None
        return f"{module}.{member} is not allowed"

    def submodule_problem(self, module: str, member: str, name: str) -> str | None:
        """Judges reading a member that is itself a module with the own name `name`."""
        path = f"{module}.{member}"
        reachable = self.imports.keys() | self.packages
        if "*" in self.imports or path in reachable or name in reachable:
            return None
        if member in self.imports.get(module, frozenset()):
            return None
        return f"{path} is not allowed"


def packages(name: str) -> Iterator[str]:
    """The packages a module lies in."""
    while name := name.rpartition(".")[0]:
        yield name


_made: tuple[dict[str, Any], Rules] | None = None


def of(policy: dict[str, Any]) -> Rules:
    """The policy's rules, computed once: a process and its forks have one policy."""
    global _made
    if _made is None or _made[0] is not policy:
        _made = policy, Rules(policy)
    return _made[1]


def is_dunder(name: str) -> bool:
    """Whether Python reserves the name: `__all__`, but not `__` or `__x`."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def listed(names: list[str], every: frozenset[str]) -> frozenset[str]:
    """The listed names; `*` stands for every name."""
    return every if "*" in names else frozenset(names)
