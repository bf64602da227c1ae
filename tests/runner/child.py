"""Runs a snippet under the real guard in its own process, as the runner does.

Without broker and confinement: this tests the guard alone.
"""

import hashlib
import json
import os
import resource
import signal
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def mount() -> None:
    """Makes the runner's files importable under the names that they have in the child."""
    from importlib.machinery import ModuleSpec
    from importlib.util import spec_from_file_location

    class Finder:
        def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
            if name.partition(".")[0] != "_countersign":
                return None
            file = ASSETS / "runner" / Path(*name.split(".")[1:])
            if file.is_dir():
                init = file / "__init__.py"
                if not init.exists():
                    spec = ModuleSpec(name, None, is_package=True)
                    spec.submodule_search_locations = [str(file)]
                    return spec
                return spec_from_file_location(name, init, submodule_search_locations=[str(file)])
            return spec_from_file_location(name, file.with_suffix(".py"))

    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, Finder())


mount()


def policy(name: str) -> dict[str, Any]:
    """A built-in profile in the form that the runner gets."""
    raw = tomllib.loads((ASSETS / "policies" / f"{name}.toml").read_text())
    return raw | {
        "builtins": raw["builtins"]["allow"],
        "nodes": raw["nodes"]["allow"],
        "attributes": {"deny": [], "allow_dunder": []} | raw["attributes"],
    }


def memfd(data: bytes) -> int:
    fd = os.memfd_create("test")
    os.write(fd, data)
    return fd


class Ran:
    """The outcome of one run."""

    def __init__(self, stdout: str, lines: list[dict[str, Any]], status: int) -> None:
        self.stdout = stdout
        self.status = status
        self.events = [line["event"] for line in lines if "event" in line]
        reports = [line for line in lines if "event" not in line]
        self.report = reports[0] if reports else {"error": {"type": "none", "message": "no report"}}
        self.error = self.report["error"]

    @property
    def kind(self) -> str | None:
        return self.error["type"] if self.error else None

    def __repr__(self) -> str:
        return f"{self.report} {self.events} {self.stdout!r} {self.status}"


def run(
    code: str,
    rules: dict[str, Any],
    inputs: dict[str, tuple[str, str, str]] | None = None,
    libraries: dict[str, Any] | None = None,
    facts: dict[str, str] | None = None,
) -> Ran:
    """Runs the snippet in a temporary folder. `inputs`: name → (kind, format, text)."""
    with tempfile.TemporaryDirectory() as folder:
        return run_in(folder, code, rules, inputs, libraries, facts)


def run_in(
    folder: str,
    code: str,
    rules: dict[str, Any],
    inputs: dict[str, tuple[str, str, str]] | None,
    libraries: dict[str, Any] | None,
    facts: dict[str, str] | None,
) -> Ran:
    read, write = os.pipe()
    out_read, out_write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        os.close(out_read)
        os.chdir(folder)
        os.dup2(out_write, 1)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace")
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open to the end of the process
        vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr)
        # No test here needs more time or memory.
        signal.alarm(120)
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (128 << 20), used + (256 << 20)))
        try:
            child(code, rules, inputs or {}, libraries or {}, write, facts)
        finally:
            os._exit(70)
    os.close(write)
    os.close(out_write)
    stdout, lines = drain(out_read, read)
    _, status = os.waitpid(pid, 0)
    said = [json.loads(line) for line in lines.decode().splitlines()]
    return Ran(stdout.decode(), said, status)


def drain(*fds: int) -> list[bytes]:
    import select

    got = dict.fromkeys(fds, b"")
    open_fds = set(fds)
    while open_fds:
        for fd in select.select(list(open_fds), [], [])[0]:
            piece = os.read(fd, 65536)
            got[fd] += piece
            if not piece:
                open_fds.discard(fd)
                os.close(fd)
    return [got[fd] for fd in fds]


def child(
    code: str,
    rules: dict[str, Any],
    inputs: dict[str, tuple[str, str, str]],
    libraries: dict[str, Any],
    fd: int,
    facts: dict[str, str] | None,
) -> None:
    from _countersign import contracts, events, failure, job, report, spec

    bound = []
    for name, (kind, form, text) in inputs.items():
        data = text.encode()
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        bound.append(
            {
                "name": name,
                "kind": kind,
                "format": form,
                "fd": memfd(data),
                "sha256": digest,
                "private": False,
            }
        )
    told = memfd(json.dumps({"inputs": bound, "facts": facts}).encode())
    digest = "sha256:" + hashlib.sha256(code.encode()).hexdigest()
    setup = spec.Setup(
        policy=rules, code=digest, sys_path=sys.path, preload=[], memory=1 << 30, report=1 << 20, certify=False,
        fd_gate=-1, fd_report=fd, fd_job=told, fd_code=memfd(code.encode()),
    )  # fmt: skip
    contracts.of(rules["contract"]).ahead(setup)
    contract = contracts.of(rules["contract"])(setup, libraries)
    seen = events.Events(lambda line: os.write(fd, line), contract.clean)
    final: dict[str, Any] = {"error": None, "result": None}
    status = 0
    try:
        final["result"] = job.run(setup, libraries, contract, seen)
    except BaseException as error:  # noqa: BLE001 - as the runner's own
        status = failure.put(error, final)
    contract.end()
    final = contract.told(final)
    final["more"] = seen.more
    report.send(setup, final)
    report.leave(status)


def rehearsed(rules: dict[str, Any], libraries: dict[str, Any]) -> tuple[str, str]:
    """What a rehearsal under these rules printed, and its error, if any."""
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")
        vars(sys).update(__stdout__=sys.stdout)
        wrong = ""
        try:
            from _countersign import contracts, rehearse, spec

            setup = spec.Setup(
                policy=rules, code="", sys_path=sys.path, preload=[], memory=1 << 30, report=1 << 20,
                certify=False, fd_gate=-1, fd_report=-1, fd_job=-1, fd_code=-1,
            )  # fmt: skip
            rehearsal = rehearse.Rehearsal(setup, libraries)
            contracts.of(rules["contract"]).ahead(setup)
            rehearsal.whole()
        except BaseException as error:  # noqa: BLE001 - told, whatever it is
            wrong = repr(error)
        sys.stdout.flush()
        os.write(1, b"\0" + wrong.encode())
        os._exit(0)
    os.close(write)
    (told,) = drain(read)
    os.waitpid(pid, 0)
    printed, _, wrong = told.decode().partition("\0")
    return printed, wrong
