"""What the scripts of `tests/it/clients.rs` share.

A line `@grant`, `@deny REASON`, `@kill` or `@start` on standard output asks the test for the keys of a person, or for
the end and the start of the dashboard; `@pending` waits until a proposal is there. With `?` instead of `@` the test
answers once it is done. No script reaches a network.
"""

import contextlib
import functools
import io
import os
import pathlib
import socket
import sys

# What the frameworks would otherwise send, or fetch when they are imported.
os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OPENAI_API_KEY": "none",
    "LANGSMITH_TRACING": "false",
}

_connect = socket.socket.connect


@functools.wraps(_connect)
def _within(self, address):
    assert self.family == socket.AF_UNIX, f"the network is not there: {address}"
    return _connect(self, address)


def _unresolved(*names, **_):
    raise AssertionError(f"the network is not there: {names[0]}")


socket.socket.connect = _within
socket.getaddrinfo = _unresolved


def ask(what, wait=False):
    """Asks the test for something, before what needs it or (with `wait`) and waits until it was done."""
    print(f"{'?' if wait else '@'}{what}", file=sys.__stdout__, flush=True)
    if wait:
        assert sys.stdin.readline().strip() == what.split()[0]


def example(heading, **names):
    """Runs the example of the guide below this heading with these names given; returns what it printed."""
    guide = pathlib.Path(__file__).parents[2] / "assets/docs/guide.md"
    _, below = guide.read_text().split(f"# {heading}\n", 1)
    code = below.split("```python\n", 1)[1].split("```", 1)[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, f"guide: {heading}", "exec"), names)
    return printed.getvalue().strip()


def check_refused(text, *words):
    """What a model is told of code that did not run."""
    assert "did not run" in text and all(word in text for word in words), text


def turn():
    """Imports are done: waits for this script's turn."""
    assert sys.stdin.readline().strip() == "go"
