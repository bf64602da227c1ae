# Licence: MIT OR Apache-2.0, at your choice.
"""Propose Python to a Countersign dashboard, where a person decides whether it runs.

    from countersign import Client, from_dataset

    with Client(agent="my-bot") as client:
        outcome = client.run("print(sales.amount.sum())", title="revenue", inputs={"sales": from_dataset("sales")})
        print(outcome.text)

One file, standard library only: copy it beside your agent. `Client` blocks, `AsyncClient` is for asyncio. The
functions at the end make the executors and tools of agent frameworks; each imports its framework when it is called.

The client sends code and returns what came of it. Nothing here runs code, decides, or says "allow" to another
executor. Every proposal runs in a fresh process: no variable, import or file of an earlier snippet is there.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import contextlib
import hashlib
import importlib
import json
import os
import pathlib
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

__all__ = [
    "AGENT_INSTRUCTIONS",
    "Artifact",
    "AsyncClient",
    "Busy",
    "Client",
    "Closing",
    "ConnectionLost",
    "CountersignError",
    "Dataset",
    "Finding",
    "Forbidden",
    "Hello",
    "InvalidRequest",
    "NoDashboard",
    "Outcome",
    "Proposal",
    "ProtocolError",
    "Refused",
    "Run",
    "RunError",
    "TooLarge",
    "UnknownId",
    "UnknownName",
    "Verdict",
    "WrongArgument",
    "ag2_environment",
    "autogen_executor",
    "dspy_interpreter",
    "from_artifact",
    "from_dataset",
    "from_json",
    "from_text",
    "langchain_tool",
    "langchain_tools",
    "langgraph_resume",
    "llama_index_tool",
    "llama_index_tools",
    "openai_agents_tool",
    "openai_agents_tools",
    "pydantic_ai_results",
    "pydantic_ai_toolset",
    "smolagents_executor",
    "socket_path",
]

PROTOCOL = 1
FRAME_MAX = 1024 * 1024
"""Bytes of a frame that the dashboard takes. Answers are not longer."""

FINAL = frozenset({"succeeded", "failed", "denied", "expired", "withdrawn", "blocked", "unattended", "error"})

AGENT_INSTRUCTIONS = (
    "Your Python runs in Countersign: a person reads each snippet and decides whether it runs. Each snippet runs in a "
    "fresh process without network: define and import everything that it uses in the snippet itself, since no variable "
    "of an earlier one is there. Print what you want to see. If a snippet is refused, the answer says why, and whether "
    "asking again makes sense."
)
"""For an agent's system prompt."""

Input = dict[str, Any]


def from_dataset(name: str) -> Input:
    """A data set that the dashboard's configuration names; `Client.datasets` lists them."""
    return {"dataset": _a(str, "name", name)}


def from_json(value: Any) -> Input:
    """Plain data of the agent, which the person sees."""
    return {"json": value}


def from_text(text: str, format: str) -> Input:
    """A table or data as text; `format` is `csv`, `tsv`, `json` or `jsonl`."""
    return {"text": _a(str, "text", text), "format": _a(str, "format", format)}


def from_artifact(id: str, name: str) -> Input:
    """A file, or `result`, of an earlier run of this session that succeeded."""
    return {"artifact": {"id": _a(str, "id", id), "name": _a(str, "name", name)}}


# Errors


class CountersignError(Exception):
    """The dashboard could not be asked, or refused the request. A refused proposal is no error but an `Outcome`."""


class NoDashboard(CountersignError):
    """Nothing answers at the socket."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"no dashboard answers at {path}: {why}; a person starts one with `countersign` (its socket is "
            "COUNTERSIGN_SOCKET, or under XDG_RUNTIME_DIR or the state folder)"
        )


class ConnectionLost(CountersignError):
    """The connection broke. `run` connects again by itself, and calls that propose nothing are made once more."""


class ProtocolError(CountersignError):
    """The other side does not speak the dashboard's protocol."""


class Refused(CountersignError):
    """The dashboard refused a request; `data` says what would have been right."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})" + (f": {json.dumps(data)}" if data else ""))
        self.code = code
        self.message = message
        self.data = data


class InvalidRequest(Refused):
    """A parameter is wrong; the message names it."""


class WrongArgument(InvalidRequest, TypeError):
    """An argument of the caller has a wrong type; the message names it. Nothing was sent."""

    def __init__(self, message: str) -> None:
        super().__init__(-32602, message)


class TooLarge(Refused):
    """The code or the frame is too large."""


class _Later(Refused):
    @property
    def retry_after_s(self) -> float:
        data = self.data if isinstance(self.data, dict) else {}
        return float(data.get("retry_after_ms", 1000)) / 1000


class Busy(_Later):
    """Too many proposals wait, a budget is used, or a person paused this agent. Ask again after `retry_after_s`."""


class Closing(_Later):
    """The dashboard is about to end and takes no work. `run` waits for the next one; other calls can be repeated."""


class UnknownName(Refused):
    """No such profile or data set; `data` has the names that exist."""


class UnknownId(Refused):
    """No proposal of this connection has this id. With an idempotency key, propose it again to get it back."""


class Forbidden(Refused):
    """This is not allowed to this agent."""


_REFUSALS: dict[int, type[Refused]] = {
    -32602: InvalidRequest,
    -32001: TooLarge,
    -32002: Busy,
    -32003: UnknownName,
    -32004: UnknownId,
    -32005: Forbidden,
}


def _refusal(error: Any) -> Refused:
    if not isinstance(error, dict):
        error = {}
    code, data = int(error.get("code", -32603)), error.get("data")
    closing = code == -32603 and isinstance(data, dict) and data.get("closing") is True
    kind = Closing if closing else _REFUSALS.get(code, Refused)
    return kind(code, str(error.get("message", "refused without a reason")), data)


_KINDS: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    dict: "a mapping",
}


def _a(kind: type[Any], name: str, value: Any) -> Any:
    """The argument, if it is of this kind. A `bool` is no number."""
    kinds: tuple[type[Any], ...] = (int, float) if kind is float else (Mapping,) if kind is dict else (kind,)
    if not isinstance(value, kinds) or (kind in (int, float) and isinstance(value, bool)):
        raise WrongArgument(f"`{name}` must be {_KINDS[kind]}, not {type(value).__name__}")
    return value


def _maybe(kind: type[Any], name: str, value: Any) -> Any:
    return None if value is None else _a(kind, name, value)


# Results


@dataclass(frozen=True)
class Finding:
    """What the analyser found in the code."""

    rule: str
    name: str
    severity: str
    action: str
    message: str
    line: int
    hint: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.message} ({self.rule})" + (f"; hint: {self.hint}" if self.hint else "")


@dataclass(frozen=True)
class Verdict:
    """What the analyser says: `clear`, `flagged`, `blocked` or `unanalyzable`. `clear` does not mean safe."""

    verdict: str
    findings: tuple[Finding, ...]
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def may_run(self) -> bool:
        """Whether a person could grant it at all."""
        return self.verdict in ("clear", "flagged")

    @staticmethod
    def of(raw: Mapping[str, Any]) -> Verdict:
        found = raw.get("findings") or []
        findings = (
            Finding(
                rule=str(f.get("rule", "")),
                name=str(f.get("name", "")),
                severity=str(f.get("severity", "")),
                action=str(f.get("action", "")),
                message=str(f.get("message", "")),
                line=int(f.get("line", 1)),
                hint=f.get("hint"),
            )
            for f in found
        )
        return Verdict(verdict=str(raw.get("verdict", "unanalyzable")), findings=tuple(findings), raw=raw)


@dataclass(frozen=True)
class Hello:
    """What the dashboard is, and what may be proposed to it."""

    server: Mapping[str, Any]
    session: str
    profiles: tuple[Mapping[str, Any], ...]
    limits: Mapping[str, Any]


@dataclass(frozen=True)
class Dataset:
    """A data set that proposals may name."""

    name: str
    format: str
    columns: tuple[tuple[str, str], ...]
    """Name and type of each column."""
    rows: int | None
    sensitivity: str


@dataclass(frozen=True)
class Artifact:
    """A file that a run left; `Client.artifact` reads it."""

    name: str
    media_type: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class RunError:
    """Why a run failed."""

    type: str
    message: str
    line: int | None
    exception: str | None


@dataclass(frozen=True)
class Run:
    """What a run printed and left."""

    stdout: str
    stderr: str
    stdout_truncated: bool
    error: RunError | None
    limit: str | None
    duration_ms: int
    result: Any
    artifacts: tuple[Artifact, ...]
    raw: Mapping[str, Any] = field(repr=False)

    @staticmethod
    def of(raw: Mapping[str, Any]) -> Run:
        error = raw.get("error")
        return Run(
            stdout=str(raw.get("stdout", "")),
            stderr=str(raw.get("stderr", "")),
            stdout_truncated=bool(raw.get("stdout_truncated")),
            error=RunError(
                type=str(error.get("type", "")),
                message=str(error.get("message", "")),
                line=error.get("line"),
                exception=error.get("exception"),
            )
            if error
            else None,
            limit=raw.get("limit"),
            duration_ms=int(raw.get("duration_ms", 0)),
            result=raw.get("result"),
            artifacts=tuple(
                Artifact(str(a["name"]), str(a["media_type"]), int(a["bytes"]), str(a["sha256"]))
                for a in raw.get("artifacts") or []
            ),
            raw=raw,
        )


@dataclass(frozen=True)
class Proposal:
    """What was proposed; not yet how it ended."""

    id: str
    digest: str
    state: str
    verdict: Verdict | None
    expires_at: str | None

    @staticmethod
    def of(raw: Mapping[str, Any]) -> Proposal:
        verdict = raw.get("verdict")
        return Proposal(
            id=str(raw["id"]),
            digest=str(raw.get("digest", "")),
            state=str(raw.get("state", "")),
            verdict=Verdict.of(verdict) if verdict else None,
            expires_at=raw.get("expires_at"),
        )


_ADVICE = {
    "same": "You may propose the same code again.",
    "changed": "Do not propose the same code again: change what the message names, or do something else.",
    "no": "Do not propose it again.",
}

_EXIT_CODES = {"succeeded": 0, "failed": 1, "denied": 3, "expired": 4, "blocked": 5, "withdrawn": 6, "unattended": 6}


@dataclass(frozen=True)
class Outcome:
    """How a proposal ended. `state` is `succeeded` or `failed` (it ran), `denied`, `expired`, `blocked`, `withdrawn`,
    `unattended` (it did not run), or `error`. `retry` says whether asking again makes sense: `same`, `changed` or
    `no`."""

    id: str
    digest: str
    state: str
    message: str
    retry: str
    verdict: Verdict | None
    reason: str | None
    """What the person said."""
    edited: bool
    """Whether a person changed the code before granting it; `code` and `diff` are what ran then."""
    code: str | None
    diff: str | None
    run: Run | None
    raw: Mapping[str, Any] = field(repr=False)

    @staticmethod
    def of(raw: Mapping[str, Any]) -> Outcome:
        decision = raw.get("decision") or {}
        verdict, run = raw.get("verdict"), raw.get("run")
        return Outcome(
            id=str(raw["id"]),
            digest=str(raw.get("digest", "")),
            state=str(raw["state"]),
            message=str(raw.get("message", "")),
            retry=str(raw.get("retry", "no")),
            verdict=Verdict.of(verdict) if verdict else None,
            reason=decision.get("reason"),
            edited=bool(decision.get("edited")),
            code=decision.get("code"),
            diff=decision.get("diff"),
            run=Run.of(run) if run else None,
            raw=raw,
        )

    @property
    def succeeded(self) -> bool:
        return self.state == "succeeded"

    @property
    def ran(self) -> bool:
        return self.run is not None

    @property
    def stdout(self) -> str:
        return self.run.stdout if self.run else ""

    @property
    def value(self) -> Any:
        """What the last expression was worth, as plain data (profile `analysis`), or what another profile returns."""
        result = self.run.result if self.run else None
        return result["value"] if isinstance(result, dict) and "value" in result else result

    @property
    def exit_code(self) -> int:
        """The exit code of `countersign submit` for this end."""
        return _EXIT_CODES.get(self.state, 7)

    @property
    def text(self) -> str:
        """For a model: what the code printed, or why it did not run and whether asking again makes sense."""
        parts = []
        if self.edited and self.run:
            parts.append("A person edited the code before granting it. What ran differs so:")
            parts.append(self.diff or self.code or "")
        if self.run:
            parts.extend(self._of_run(self.run))
        else:
            parts.append(f"The code did not run ({self.state}). {self.message}")
        if not self.succeeded and "may propose it again" not in self.message:
            parts.append(_ADVICE.get(self.retry, _ADVICE["no"]))
        return "\n".join(part.rstrip("\n") for part in parts if part)

    def _of_run(self, run: Run) -> list[str]:
        parts = [run.stdout or ("The code ran and printed nothing." if self.succeeded else "")]
        if run.stdout_truncated:
            parts.append("(cut here: the output is longer)")
        if self.succeeded:
            parts.extend(self.notes)
        else:
            parts.append(f"The code ran and failed. {self.message}")
            if run.error and run.error.message not in self.message:
                where = f"line {run.error.line}: " if run.error.line else ""
                parts.append(f"{where}{run.error.exception or run.error.type}: {run.error.message}")
            if run.stderr:
                parts.append(run.stderr)
            parts.extend(self._files())
        return parts

    @property
    def notes(self) -> list[str]:
        """What a model should know of a run besides what it printed: what was not kept, what is left out of the value,
        and the files, with the id by which `Client.artifact` reads them."""
        if not self.run:
            return []
        notes = []
        said = self.message.removeprefix("It ran and succeeded.").strip()
        if self.succeeded and said:
            notes.append(said)
        result = self.run.result
        left_out = result.get("value_left_out") if isinstance(result, dict) else None
        if left_out:
            notes.append(f"Left out of its value: {'; '.join(map(str, left_out))}.")
        return notes + self._files()

    def _files(self) -> list[str]:
        if not self.run or not self.run.artifacts:
            return []
        files = ", ".join(f"{a.name} ({a.media_type}, {a.bytes} bytes)" for a in self.run.artifacts)
        return [f"Files of the run {self.id}: {files}"]


def _datasets(raw: Any) -> list[Dataset]:
    return [
        Dataset(
            name=str(d["name"]),
            format=str(d.get("format", "")),
            columns=tuple((str(c["name"]), str(c["dtype"])) for c in d.get("columns") or []),
            rows=d.get("rows"),
            sensitivity=str(d.get("sensitivity", "")),
        )
        for d in raw
    ]


# The socket


def socket_path(environment: Mapping[str, str] | None = None) -> str:
    """Where `countersign submit` connects: COUNTERSIGN_SOCKET, else the runtime folder, else the state folder."""
    env = os.environ if environment is None else environment
    named = env.get("COUNTERSIGN_SOCKET")
    if named:
        return named
    # The folders of the specification count only if they are absolute.
    runtime = env.get("XDG_RUNTIME_DIR", "")
    state = env.get("COUNTERSIGN_STATE_DIR", "")
    if os.path.isabs(runtime):
        return os.path.join(runtime, "countersign", "agent.sock")
    if not state:
        base = env.get("XDG_STATE_HOME", "")
        if not os.path.isabs(base):
            base = os.path.join(env.get("HOME") or str(pathlib.Path.home()), ".local", "state")
        state = os.path.join(base, "countersign")
    return os.path.join(state, "run", "agent.sock")


def _frame(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(
            {"jsonrpc": "2.0", "id": number, "method": method, "params": params}, ensure_ascii=False, allow_nan=False
        )
        frame = text.encode() + b"\n"
    except (TypeError, ValueError) as e:
        raise WrongArgument(f"{_culprit(method, params)} is no plain JSON: {e}") from e
    if len(frame) > FRAME_MAX:
        raise TooLarge(-32001, f"the request has {len(frame)} bytes; a frame has at most {FRAME_MAX}")
    return frame


def _culprit(method: str, params: Mapping[str, Any]) -> str:
    """What of the parameters cannot be sent."""
    for name, value in (params.get("inputs") or {}).items():
        try:
            json.dumps(value, allow_nan=False).encode()
        except (TypeError, ValueError):
            return f"the input `{name}`"
    return next((f"`{n}`" for n, v in params.items() if isinstance(v, str) and not _sendable(v)), f"`{method}`")


def _sendable(text: str) -> bool:
    try:
        return bool(text.encode()) or True
    except UnicodeEncodeError:
        return False


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError as e:
        raise ProtocolError(f"the socket sent what is no JSON: {e}") from e
    if not isinstance(message, dict):
        raise ProtocolError("the socket sent what is no JSON-RPC message")
    return message


def _result(answer: Mapping[str, Any]) -> Any:
    if answer.get("error") is not None:
        raise _refusal(answer["error"])
    if "result" not in answer:
        raise ProtocolError("an answer has neither `result` nor `error`")
    return answer["result"]


_LONG = "the socket sent a line over the limit of a frame"
_CLOSED = "the dashboard closed the connection before it answered"


class _Connection:
    """One connection, for calls of several threads: whoever waits reads for all."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.socket.connect(path)
        except OSError as e:
            self.socket.close()
            raise NoDashboard(path, e.strerror or str(e)) from e
        self.lost: CountersignError | None = None
        self._sending = threading.Lock()
        self._turn = threading.Condition()
        self._reading = False
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._awaited: set[int] = set()
        self._received = bytearray()

    def is_open(self) -> bool:
        """Whether the other side is still there, as far as can be told without asking it."""
        with self._turn:
            if self.lost or self._reading or self._received:
                return not self.lost
            try:
                gone = self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
            except BlockingIOError:
                return True
            except OSError:
                gone = True
        if gone:
            self._lose(ConnectionLost(_CLOSED))
        return not gone

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        number = self.send(method, params, awaited=True)
        try:
            return _result(self._answer(number))
        finally:
            with self._turn:
                self._awaited.discard(number)
                self._answers.pop(number, None)

    def send(self, method: str, params: Mapping[str, Any], awaited: bool = False) -> int:
        with self._sending:
            self._number += 1
            number = self._number
            frame = _frame(number, method, params)
            if awaited:
                with self._turn:
                    self._awaited.add(number)
            try:
                self.socket.sendall(frame)
            except OSError as e:
                raise self._lose(ConnectionLost(f"cannot send to the dashboard: {e}")) from e
        return number

    def _answer(self, number: int) -> dict[str, Any]:
        while True:
            with self._turn:
                while self._reading and number not in self._answers and not self.lost:
                    self._turn.wait()
                if number in self._answers:
                    return self._answers[number]
                if self.lost:
                    raise self.lost
                self._reading = True
            try:
                self._take(self._message())
            except CountersignError as e:
                self._lose(e)
            finally:
                with self._turn:
                    self._reading = False
                    self._turn.notify_all()

    def _message(self) -> dict[str, Any]:
        # What was received stays if the wait is interrupted.
        while (end := self._received.find(b"\n")) < 0:
            if len(self._received) > 2 * FRAME_MAX:
                raise ProtocolError(_LONG)
            try:
                part = self.socket.recv(65536)
            except OSError as e:
                raise ConnectionLost(f"cannot read from the dashboard: {e}") from e
            if not part:
                raise ConnectionLost(_CLOSED)
            self._received += part
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return _parsed(line)

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            return
        number = message.get("id")
        if number is None:
            # An error about the connection itself.
            raise _refusal(message.get("error"))
        with self._turn:
            if number in self._awaited:
                self._answers[number] = message

    def _lose(self, why: CountersignError) -> CountersignError:
        with self._turn:
            self.lost = self.lost or why
            self._turn.notify_all()
        return self.lost

    def close(self) -> None:
        self._lose(ConnectionLost("the connection was closed"))
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


class _AsyncConnection:
    """One connection of an event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.loop = asyncio.get_running_loop()
        self.lost: CountersignError | None = None
        self._reader = reader
        self._writer = writer
        self._number = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._task = self.loop.create_task(self._read())

    @staticmethod
    async def open(path: str) -> _AsyncConnection:
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=2 * FRAME_MAX)
        except OSError as e:
            raise NoDashboard(path, e.strerror or str(e)) from e
        return _AsyncConnection(reader, writer)

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        number = self.send(method, params)
        future = self._waiting[number] = self.loop.create_future()
        try:
            await self._writer.drain()
            return _result(await future)
        except OSError as e:
            raise self._lose(ConnectionLost(f"cannot send to the dashboard: {e}")) from e
        finally:
            self._waiting.pop(number, None)

    def send(self, method: str, params: Mapping[str, Any]) -> int:
        if self.lost:
            raise self.lost
        self._number += 1
        self._writer.write(_frame(self._number, method, params))
        return self._number

    async def _read(self) -> None:
        try:
            while True:
                try:
                    line = await self._reader.readline()
                except ValueError as e:
                    raise ProtocolError(_LONG) from e
                except OSError as e:
                    raise ConnectionLost(f"cannot read from the dashboard: {e}") from e
                if not line.endswith(b"\n"):
                    raise ConnectionLost(_CLOSED)
                message = _parsed(line)
                if "method" in message:
                    continue
                number = message.get("id")
                if number is None:
                    raise _refusal(message.get("error"))
                future = self._waiting.get(number)
                if future and not future.done():
                    future.set_result(message)
        except CountersignError as e:
            self._lose(e)

    def _lose(self, why: CountersignError) -> CountersignError:
        self.lost = self.lost or why
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(self.lost)
        return self.lost

    def close(self) -> None:
        self._lose(ConnectionLost("the connection was closed"))
        if not self.loop.is_closed():
            self._task.cancel()
            self._writer.close()


# The clients


class _Patience:
    """How long `run` goes on after a broken connection or while the dashboard is busy or closes.

    `until` ends it earlier as long as nothing was proposed: later on the code may have been granted, and its run is
    waited for.
    """

    def __init__(self, seconds: float, until: float | None) -> None:
        self._seconds = seconds
        self._until = until
        self._since: float | None = None
        self._tries = 0

    def pause(self, error: CountersignError) -> float:
        """Seconds until the next try; raises the error if there is none."""
        # A dashboard that was never there is told at once.
        if isinstance(error, NoDashboard) and self._since is None:
            raise error
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        pause = error.retry_after_s if isinstance(error, _Later) else min(0.05 * 2**self._tries, 2.0)
        if now + pause - self._since > self._seconds:
            raise error
        if self._until is not None and now + pause > self._until:
            raise error
        self._tries += 1
        return pause

    def answered(self) -> None:
        self._since, self._tries = None, 0
        self._until = None


class _Common:
    """What both clients do without the socket."""

    def __init__(
        self,
        path: str | None = None,
        *,
        agent: str | Mapping[str, str] | None = None,
        session: str | None = None,
        reconnect_s: float = 60.0,
    ) -> None:
        self.path = _a(str, "path", os.fspath(path) if isinstance(path, os.PathLike) else path or socket_path())
        claim = {"name": agent} if isinstance(agent, str) else dict(_maybe(dict, "agent", agent) or {})
        self.agent: dict[str, str] | None = claim or None
        self.session = _maybe(str, "session", session)
        self.reconnect_s = _a(float, "reconnect_s", reconnect_s)
        self._hello: Hello | None = None

    def _greeting(self) -> dict[str, Any]:
        return _without_none({"protocol": PROTOCOL, "agent": self.agent, "session": self.session})

    def _greeted(self, raw: Mapping[str, Any]) -> Hello:
        hello = Hello(
            server=raw.get("server") or {},
            session=str(raw.get("session", "")),
            profiles=tuple(raw.get("profiles") or ()),
            limits=raw.get("limits") or {},
        )
        self.session = hello.session
        self._hello = hello
        return hello


def _without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _inputs(inputs: Mapping[str, Input] | None) -> dict[str, Input] | None:
    for name, value in (_maybe(dict, "inputs", inputs) or {}).items():
        _a(str, "a name of `inputs`", name)
        if not isinstance(value, dict):
            raise WrongArgument(
                f"the input `{name}` must be made by from_dataset, from_json, from_text or from_artifact, "
                f"not {type(value).__name__}"
            )
    return None if inputs is None else dict(inputs)


def _proposal(
    code: str,
    profile: str | None,
    title: str | None,
    reason: str | None,
    inputs: Mapping[str, Input] | None,
    ttl_s: int | None,
    key: str | None,
) -> dict[str, Any]:
    return _without_none(
        {
            "code": _a(str, "code", code),
            "profile": _maybe(str, "profile", profile),
            "title": _maybe(str, "title", title) or None,
            "reason": _maybe(str, "reason", reason) or None,
            "inputs": _inputs(inputs) or None,
            "ttl_s": _maybe(int, "ttl_s", ttl_s),
            "idempotency_key": _maybe(str, "key", key),
        }
    )


def _repeats(method: str, params: Mapping[str, Any] | None) -> bool:
    """Whether a call may be made again over another connection: nothing is proposed twice by that."""
    return method != "propose" or "idempotency_key" in (params or {})


def _waiting(id: str, until: float | None) -> dict[str, Any]:
    left = None if until is None else max(0.0, until - time.monotonic())
    return _without_none({"id": id, "timeout_s": left})


def _of(id: str) -> dict[str, Any]:
    return {"id": _a(str, "id", id)}


def _until(timeout_s: float | None) -> float | None:
    return None if timeout_s is None else time.monotonic() + _a(float, "timeout_s", timeout_s)


def _check(code: str, profile: str | None, inputs: Mapping[str, Input] | None) -> dict[str, Any]:
    return _without_none(
        {"code": _a(str, "code", code), "profile": _maybe(str, "profile", profile), "inputs": _inputs(inputs)}
    )


def _outcome(raw: Mapping[str, Any]) -> Outcome | None:
    return Outcome.of(raw) if raw.get("state") in FINAL and "message" in raw else None


def _take_back(connection: _AsyncConnection, asked: asyncio.Future[Any]) -> None:
    if not asked.cancelled() and asked.exception() is None:
        with contextlib.suppress(CountersignError):
            connection.send("withdraw", {"id": asked.result()["id"]})


class _Parts:
    """A file that arrives in parts; its length and digest are compared if they are known."""

    def __init__(self, name: str | Artifact) -> None:
        self.name = name.name if isinstance(name, Artifact) else _a(str, "name", name)
        self._wanted = name if isinstance(name, Artifact) else None
        self.content = b""

    def add(self, raw: Mapping[str, Any]) -> bool:
        """Whether there is more."""
        part = base64.b64decode(str(raw["base64"]), validate=True)
        self.content += part
        more = raw.get("next_offset")
        most = self._wanted.bytes if self._wanted else None
        if more is not None and (not part or more != len(self.content) or (most is not None and more > most)):
            raise ProtocolError(f"the parts of `{self.name}` do not fit together")
        wanted = self._wanted
        if more is None and wanted and hashlib.sha256(self.content).hexdigest() != wanted.sha256:
            raise ProtocolError(f"`{self.name}` is not what the outcome says: another SHA-256")
        return more is not None


class Client(_Common):
    """Talks to a dashboard. Several threads may call it at once.

    `agent` is a name, or `{"name", "version", "session", "model"}`: the person sees it as a claim. `reconnect_s` is
    how long `run` goes on after the connection broke. `session` resumes a session of an earlier client.
    """

    _connection: _Connection | None = None

    def __init__(
        self,
        path: str | None = None,
        *,
        agent: str | Mapping[str, str] | None = None,
        session: str | None = None,
        reconnect_s: float = 60.0,
    ) -> None:
        super().__init__(path, agent=agent, session=session, reconnect_s=reconnect_s)
        self._connecting = threading.Lock()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Proposals without an idempotency key are withdrawn by that."""
        with self._connecting:
            if self._connection:
                self._connection.close()
                self._connection = None

    def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        try:
            return self._connected().call(method, params or {})
        except ConnectionLost:
            if not _repeats(method, params):
                raise
        return self._connected().call(method, params or {})

    def _connected(self) -> _Connection:
        with self._connecting:
            if self._connection is None or not self._connection.is_open():
                if self._connection:
                    self._connection.close()
                connection = _Connection(self.path)
                try:
                    self._greeted(connection.call("hello", self._greeting()))
                except BaseException:
                    connection.close()
                    raise
                self._connection = connection
            return self._connection

    def hello(self) -> Hello:
        """The dashboard's profiles and limits."""
        return self._greeted(self._call("hello", self._greeting()))

    def check(self, code: str, *, profile: str | None = None, inputs: Mapping[str, Input] | None = None) -> Verdict:
        """The static verdict; nothing is queued, nobody is asked. Of `inputs` the names count; without them, names that
        only inputs bind are not judged."""
        return Verdict.of(self._call("check", _check(code, profile, inputs)))

    def datasets(self) -> list[Dataset]:
        return _datasets(self._call("datasets"))

    def propose(
        self,
        code: str,
        *,
        profile: str | None = None,
        title: str | None = None,
        reason: str | None = None,
        inputs: Mapping[str, Input] | None = None,
        ttl_s: int | None = None,
        key: str | None = None,
    ) -> Proposal:
        """Proposes and does not wait. Without `key` the proposal is withdrawn when this client closes."""
        return Proposal.of(self._call("propose", _proposal(code, profile, title, reason, inputs, ttl_s, key)))

    def wait(self, id: str, *, timeout_s: float | None = None) -> Outcome | None:
        """The outcome, once there is one; `None` at the time-out."""
        until = _until(timeout_s)
        return _outcome(self._call("wait", {**_of(id), **_waiting(id, until)}))

    def status(self, id: str) -> dict[str, Any]:
        return dict(self._call("status", _of(id)))

    def withdraw(self, id: str) -> str:
        """Takes a pending proposal back; returns its state."""
        return str(self._call("withdraw", _of(id))["state"])

    def artifact(self, id: str, name: str | Artifact) -> bytes:
        """A file that a run left; compared with its digest if `name` is an `Artifact` of the outcome."""
        parts, of = _Parts(name), _of(id)
        while parts.add(self._call("artifact", {**of, "name": parts.name, "offset": len(parts.content)})):
            pass
        return parts.content

    def run(
        self,
        code: str,
        *,
        profile: str | None = None,
        title: str | None = None,
        reason: str | None = None,
        inputs: Mapping[str, Input] | None = None,
        ttl_s: int | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
    ) -> Outcome:
        """Proposes, waits for the decision and the run, and returns the outcome, whatever it is.

        An idempotency key is made once, so that a broken connection attaches to the same proposal again. A
        dashboard that crashed and was started anew knows nothing of it: there it is proposed again, under the same
        key, once, and a person decides again. After `timeout_s` without a decision the proposal is withdrawn, and
        so it is if the wait is interrupted; a run that was granted is waited for.
        """
        params = _proposal(code, profile, title, reason, inputs, ttl_s, key or uuid.uuid4().hex)
        until = _until(timeout_s)
        patience = _Patience(self.reconnect_s, until)
        while True:
            try:
                return self._follow(params, until, patience)
            except (ConnectionLost, NoDashboard, Busy, Closing) as e:
                time.sleep(patience.pause(e))

    def _follow(self, params: Mapping[str, Any], until: float | None, patience: _Patience) -> Outcome:
        connection = self._connected()
        id = str(connection.call("propose", params)["id"])
        patience.answered()
        try:
            while True:
                outcome = _outcome(connection.call("wait", _waiting(id, until)))
                if outcome:
                    return outcome
                if until is not None:
                    # Withdrawn or not, there will be an end.
                    until = None
                    connection.call("withdraw", {"id": id})
        except Exception:
            raise
        except BaseException:
            try:
                connection.send("withdraw", {"id": id})
            except CountersignError:
                pass
            raise


class AsyncClient(_Common):
    """`Client` for asyncio; calls may overlap. In another event loop it connects anew."""

    _connection: _AsyncConnection | None = None
    _connecting: asyncio.Task[_AsyncConnection] | None = None

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Proposals without an idempotency key are withdrawn by that."""
        if self._connection:
            self._connection.close()
            self._connection = None
            await asyncio.sleep(0)

    async def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        try:
            return await (await self._connected()).call(method, params or {})
        except ConnectionLost:
            if not _repeats(method, params):
                raise
        return await (await self._connected()).call(method, params or {})

    async def _connected(self) -> _AsyncConnection:
        loop = asyncio.get_running_loop()
        connection = self._connection
        if connection and not connection.lost and connection.loop is loop:
            return connection
        if self._connecting is None or self._connecting.get_loop() is not loop or self._connecting.done():
            self._connecting = loop.create_task(self._connect())
        return await asyncio.shield(self._connecting)

    async def _connect(self) -> _AsyncConnection:
        if self._connection:
            self._connection.close()
            self._connection = None
        connection = await _AsyncConnection.open(self.path)
        try:
            self._greeted(await connection.call("hello", self._greeting()))
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    async def hello(self) -> Hello:
        """The dashboard's profiles and limits."""
        return self._greeted(await self._call("hello", self._greeting()))

    async def check(
        self, code: str, *, profile: str | None = None, inputs: Mapping[str, Input] | None = None
    ) -> Verdict:
        """As `Client.check`."""
        return Verdict.of(await self._call("check", _check(code, profile, inputs)))

    async def datasets(self) -> list[Dataset]:
        return _datasets(await self._call("datasets"))

    async def propose(
        self,
        code: str,
        *,
        profile: str | None = None,
        title: str | None = None,
        reason: str | None = None,
        inputs: Mapping[str, Input] | None = None,
        ttl_s: int | None = None,
        key: str | None = None,
    ) -> Proposal:
        """Proposes and does not wait. Without `key` the proposal is withdrawn when this client closes."""
        return Proposal.of(await self._call("propose", _proposal(code, profile, title, reason, inputs, ttl_s, key)))

    async def wait(self, id: str, *, timeout_s: float | None = None) -> Outcome | None:
        """The outcome, once there is one; `None` at the time-out."""
        until = _until(timeout_s)
        return _outcome(await self._call("wait", {**_of(id), **_waiting(id, until)}))

    async def status(self, id: str) -> dict[str, Any]:
        return dict(await self._call("status", _of(id)))

    async def withdraw(self, id: str) -> str:
        """Takes a pending proposal back; returns its state."""
        return str((await self._call("withdraw", _of(id)))["state"])

    async def artifact(self, id: str, name: str | Artifact) -> bytes:
        """A file that a run left; compared with its digest if `name` is an `Artifact` of the outcome."""
        parts, of = _Parts(name), _of(id)
        while parts.add(await self._call("artifact", {**of, "name": parts.name, "offset": len(parts.content)})):
            pass
        return parts.content

    async def run(
        self,
        code: str,
        *,
        profile: str | None = None,
        title: str | None = None,
        reason: str | None = None,
        inputs: Mapping[str, Input] | None = None,
        ttl_s: int | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
    ) -> Outcome:
        """As `Client.run`. A cancelled task withdraws its proposal."""
        params = _proposal(code, profile, title, reason, inputs, ttl_s, key or uuid.uuid4().hex)
        until = _until(timeout_s)
        patience = _Patience(self.reconnect_s, until)
        while True:
            try:
                return await self._follow(params, until, patience)
            except (ConnectionLost, NoDashboard, Busy, Closing) as e:
                await asyncio.sleep(patience.pause(e))

    async def _follow(self, params: Mapping[str, Any], until: float | None, patience: _Patience) -> Outcome:
        connection = await self._connected()
        asking = asyncio.ensure_future(connection.call("propose", params))
        try:
            id = str((await asyncio.shield(asking))["id"])
        except asyncio.CancelledError:
            # Its key keeps it pending though nobody waits: it is taken back once its id is known.
            asking.add_done_callback(lambda asked: _take_back(connection, asked))
            raise
        patience.answered()
        try:
            while True:
                outcome = _outcome(await connection.call("wait", _waiting(id, until)))
                if outcome:
                    return outcome
                if until is not None:
                    until = None
                    await connection.call("withdraw", {"id": id})
        except Exception:
            raise
        except BaseException:
            try:
                connection.send("withdraw", {"id": id})
            except CountersignError:
                pass
            raise


# Frameworks

TOOL_NAME = "run_python"
TOOL_DESCRIPTION = (
    "Proposes Python code to a person, who decides whether it runs, and returns what it printed. Each call is a fresh "
    "process without network and without the variables of earlier calls. `datasets` are given as variables under "
    "their names. If it was refused, the answer says why and whether asking again makes sense."
)
TOOL_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "description": "The whole Python code; print what you want to see."},
        "title": {"type": "string", "description": "What it is, in a few words, for the person who decides."},
        "reason": {"type": "string", "description": "Why it should run."},
        "datasets": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Names of the dashboard's data sets that the code uses.",
        },
    },
    "required": ["code"],
    "additionalProperties": False,
}


LIST_NAME = "list_datasets"
LIST_DESCRIPTION = f"The data sets that code may name in `datasets` of {TOOL_NAME}, with their columns."
LIST_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def _listed(datasets: Sequence[Dataset]) -> str:
    lines = []
    for data in datasets:
        rows = "" if data.rows is None else f", {data.rows} rows"
        # A column's name may hold anything; one line stays one line.
        columns = ", ".join(f"{json.dumps(name, ensure_ascii=False)[1:-1]} {dtype}" for name, dtype in data.columns)
        lines.append(f"{data.name} ({data.format}{rows}, {data.sensitivity}): {columns}")
    if not lines:
        return "No data sets are configured."
    return "\n".join([*lines, f"Name one in `datasets` of {TOOL_NAME}: the code has it as a variable of that name."])


def _arguments(arguments: Any) -> dict[str, Any]:
    """The arguments of a model's call of `run_python`, checked: what `Client.run` takes."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError as e:
            raise InvalidRequest(-32602, f"the arguments of {TOOL_NAME} are no JSON: {e}") from e
    if not isinstance(arguments, dict):
        raise InvalidRequest(-32602, f"the arguments of {TOOL_NAME} must be an object with `code`")
    code, datasets = arguments.get("code"), arguments.get("datasets") or []
    if not isinstance(code, str) or not code.strip():
        raise InvalidRequest(-32602, f"`code` of {TOOL_NAME} must be a text of Python")
    if not isinstance(datasets, list) or not all(isinstance(name, str) for name in datasets):
        raise InvalidRequest(-32602, f"`datasets` of {TOOL_NAME} must be a list of names")
    for name in ("title", "reason"):
        if not isinstance(arguments.get(name) or "", str):
            raise InvalidRequest(-32602, f"`{name}` of {TOOL_NAME} must be a text")
    if extra := sorted(set(arguments) - set(TOOL_PARAMETERS["properties"])):
        raise InvalidRequest(-32602, f"{TOOL_NAME} takes no `{extra[0]}`; it takes code, title, reason and datasets")
    return {
        "code": code,
        "title": arguments.get("title") or None,
        "reason": arguments.get("reason") or None,
        "inputs": {name: from_dataset(name) for name in datasets} or None,
    }


def _told(error: CountersignError) -> str:
    return f"The code did not run: {error}"


class _Tool:
    """`run_python` as a function, for models: what is wrong is told as text, since a model can mend it."""

    def __init__(self, client: Client | None, aclient: AsyncClient | None, agent: str, **options: Any) -> None:
        self.client = client or Client(aclient.path if aclient else None, agent=agent)
        self.aclient = aclient or AsyncClient(self.client.path, agent=self.client.agent)
        self.options = options

    def _wanted(self, arguments: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """What the model says goes before the options; inputs are joined."""
        said = _arguments(arguments)
        inputs = {**(self.options.get("inputs") or {}), **(said.pop("inputs", None) or {})}
        return {**self.options, **options, **_without_none(said), "inputs": inputs or None}

    def call(self, arguments: Any, **options: Any) -> str:
        try:
            return self.client.run(**self._wanted(arguments, options)).text
        except CountersignError as e:
            return _told(e)

    async def acall(self, arguments: Any, **options: Any) -> str:
        try:
            return (await self.aclient.run(**self._wanted(arguments, options))).text
        except CountersignError as e:
            return _told(e)

    def datasets(self) -> str:
        try:
            return _listed(self.client.datasets())
        except CountersignError as e:
            return f"The data sets cannot be listed: {e}"

    async def adatasets(self) -> str:
        try:
            return _listed(await self.aclient.datasets())
        except CountersignError as e:
            return f"The data sets cannot be listed: {e}"


def _names(code: str) -> set[str]:
    """Every name that the code reads."""
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


def _calls_last(code: str, function: str) -> bool:
    """Whether the last statement is a call of this function. A call anywhere else is an error."""
    tree = ast.parse(code)
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function
    ]
    last = tree.body[-1] if tree.body else None
    if not calls:
        return False
    if len(calls) > 1 or not (isinstance(last, ast.Expr) and last.value is calls[0]):
        raise InvalidRequest(
            -32602,
            f"call {function}(...) once, as the last line of the snippet, outside of any block; nothing was proposed",
        )
    return True


def _given(names: set[str], variables: Mapping[str, Any], fixed: Mapping[str, Input]) -> dict[str, Input]:
    """The inputs of every snippet, and the variables that the code uses: only plain data goes into another process."""
    inputs = dict(fixed)
    for name in sorted(names & set(variables)):
        if name in fixed:
            raise InvalidRequest(
                -32602, f"`{name}` is both an input of the executor and a variable of the agent; rename one of them"
            )
        # DSPy's own code for sub-agents has one, and goes without.
        if not name[0].isalpha():
            raise InvalidRequest(
                -32602,
                f"the variable `{name}` cannot be given to the snippet: the name of an input begins with a letter",
            )
        try:
            json.dumps(variables[name], allow_nan=False)
        except (TypeError, ValueError) as e:
            raise InvalidRequest(
                -32602,
                f"the variable `{name}` cannot be given to the snippet: it is no plain data ({e}); the code runs in "
                "another process, so name a data set or give numbers, texts, lists and dictionaries",
            ) from e
        inputs[name] = from_json(variables[name])
    return inputs


def _parted(options: Mapping[str, Any]) -> tuple[Mapping[str, Input], dict[str, Any]]:
    """The inputs of every snippet, and the other options of `Client.run`."""
    rest = dict(options)
    return rest.pop("inputs", None) or {}, rest


def _printed(outcome: Outcome) -> str:
    """What a run printed, with what a model should know besides."""
    end = "" if outcome.stdout.endswith("\n") or not outcome.stdout else "\n"
    return outcome.stdout + end * bool(outcome.notes) + "".join(f"{note}\n" for note in outcome.notes)


class _Snippet(Exception):
    """A snippet that did not succeed, as an error for a framework; its text is `Outcome.text`."""


class _SmolagentsExecutor:
    PRELUDE = "def final_answer(answer):\n    return answer\n\n\n"

    def __init__(self, client: Client, options: Mapping[str, Any], output: type[Any]) -> None:
        self.client = client
        self._inputs, self.options = _parted(options)
        self.state: dict[str, Any] = {}
        self._output = output
        self._variables: dict[str, Any] = {}
        self._tools: set[str] = set()

    def send_tools(self, tools: Mapping[str, Any]) -> None:
        self._tools = set(tools) - {"final_answer"}

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        self._variables.update(variables)

    def __call__(self, code_action: str) -> Any:
        self.state["_print_outputs"] = ""
        names = _names(code_action)
        if tools := sorted(names & self._tools):
            raise InvalidRequest(
                -32602,
                f"`{tools[0]}` is a tool of the agent's process and cannot be called from code: the code runs in a "
                "confined process of its own. Nothing was proposed",
            )
        final = _calls_last(code_action, "final_answer")
        outcome = self.client.run(
            (self.PRELUDE if final else "") + code_action,
            inputs=_given(names, self._variables, self._inputs) or None,
            **self.options,
        )
        self.state["_print_outputs"] = logs = _printed(outcome)
        if not outcome.succeeded:
            raise _Snippet(outcome.text)
        return self._output(output=outcome.value, logs=logs, is_final_answer=final)

    def cleanup(self) -> None:
        self.client.close()


def smolagents_executor(client: Client | None = None, **options: Any) -> Any:
    """A `PythonExecutor` of smolagents: `CodeAgent(tools=[], model=model, executor=smolagents_executor())`.

    `final_answer(...)` works as the last line of a snippet; its argument must be plain data. Values given to the
    agent (`additional_args`) become inputs of the snippets that name them, if they are plain data. Not kept:
    variables, imports and functions of an earlier snippet. Tools of the agent cannot be called from code; a snippet
    that names one is refused before it is proposed. Pass `instructions=AGENT_INSTRUCTIONS` to the agent. `options`
    go to `Client.run`.
    """
    module = importlib.import_module("smolagents.local_python_executor")
    made = type("CountersignExecutor", (_SmolagentsExecutor, module.PythonExecutor), {})
    return made(client or Client(agent="smolagents"), options, module.CodeOutput)


_PYTHON = frozenset({"python", "py", "python3", ""})


def _only_python(language: str) -> str:
    return f"Only Python can be proposed, not {language or 'code without a language'}; nothing was proposed."


class _AutogenExecutor:
    component_provider_override = "countersign.autogen_executor"

    def __init__(self, client: AsyncClient, options: Mapping[str, Any], result: type[Any]) -> None:
        self.client = client
        self.options = options
        self._result = result

    async def execute_code_blocks(self, code_blocks: Sequence[Any], cancellation_token: Any) -> Any:
        output: list[str] = []
        for block in code_blocks:
            if block.language.lower() not in _PYTHON:
                return self._result(exit_code=2, output="\n".join([*output, _only_python(block.language)]))
            task = asyncio.ensure_future(self.client.run(block.code, **self.options))
            cancellation_token.link_future(task)
            outcome = await task
            output.append(outcome.text)
            if not outcome.succeeded:
                return self._result(exit_code=outcome.exit_code, output="\n".join(output))
        return self._result(exit_code=0, output="\n".join(output))

    async def start(self) -> None:
        """Nothing to start: the dashboard is a person's."""

    async def stop(self) -> None:
        await self.client.close()

    async def restart(self) -> None:
        """Nothing to forget: no snippet leaves anything behind."""


def autogen_executor(client: AsyncClient | None = None, **options: Any) -> Any:
    """A `CodeExecutor` of autogen-core (and of AutoGen's `CodeExecutorAgent`).

    Each block of Python is a proposal of its own, in order; the first that does not succeed ends the call. Other
    languages are refused. A cancelled token withdraws what is pending. Not kept: anything between blocks or calls.
    """
    module = importlib.import_module("autogen_core.code_executor")
    made = type("CountersignExecutor", (_AutogenExecutor, module.CodeExecutor), {})
    return made(client or AsyncClient(agent="autogen"), options, module.CodeResult)


class _Ag2Environment:
    supported_languages = ("python",)

    def __init__(self, client: AsyncClient, options: Mapping[str, Any], result: type[Any]) -> None:
        self.client = client
        self.options = options
        self._result = result

    async def run(self, code: str, language: str, *, context: Any = None) -> Any:
        if language not in _PYTHON:
            return self._result(output=_only_python(language), exit_code=2)
        try:
            outcome = await self.client.run(code, **self.options)
        except CountersignError as e:
            return self._result(output=_told(e), exit_code=7)
        return self._result(output=outcome.text, exit_code=outcome.exit_code)


def ag2_environment(client: AsyncClient | None = None, **options: Any) -> Any:
    """A `CodeEnvironment` of ag2 1.x: `Agent(..., tools=[SandboxCodeTool(ag2_environment())])`.

    Only Python. Not kept: anything between calls.
    """
    module = importlib.import_module("ag2.tools.code")
    return _Ag2Environment(client or AsyncClient(agent="ag2"), options, module.CodeRunResult)


class _DspyInterpreter:
    PRELUDE = (
        "def SUBMIT(*values, **fields):\n    return fields or (values[0] if len(values) == 1 else list(values))\n\n\n"
    )

    def __init__(self, client: Client, options: Mapping[str, Any], module: Any) -> None:
        self.client = client
        self._inputs, self.options = _parted(options)
        self.tools: dict[str, Callable[..., Any]] = {}
        self.output_fields: list[dict[str, Any]] | None = None
        self._module = module
        self._functions: dict[str, str] = {}

    def start(self) -> None:
        """Nothing to start: the dashboard is a person's."""

    def shutdown(self) -> None:
        self._functions.clear()

    def execute(self, code: str, variables: Mapping[str, Any] | None = None) -> Any:
        tree = ast.parse(code)
        if tools := sorted(_names(code) & set(self.tools)):
            raise self._module.CodeExecutionError(
                f"`{tools[0]}` is a function of the agent's process and cannot be called from code: the code runs in a "
                "confined process of its own. Nothing was proposed"
            )
        functions = [part for part in tree.body if isinstance(part, ast.FunctionDef)]
        if functions and len(functions) == len(tree.body):
            # A tool of CodeAct: part of the snippets that name it.
            self._functions.update({part.name: ast.unparse(part) for part in functions})
            return None
        names = _names(code)
        try:
            final = _calls_last(code, "SUBMIT")
            inputs = _given(names, variables or {}, self._inputs)
        except InvalidRequest as e:
            raise self._module.CodeExecutionError(str(e)) from e
        used = "".join(f"{text}\n\n\n" for text in self._used(names))
        try:
            outcome = self.client.run(
                (self.PRELUDE if final else "") + used + code, inputs=inputs or None, **self.options
            )
        except CountersignError as e:
            raise self._module.CodeInterpreterError(str(e)) from e
        if not outcome.succeeded:
            ends = outcome.retry == "no" or outcome.state in ("expired", "withdrawn", "unattended", "error")
            kind = self._module.CodeInterpreterError if ends else self._module.CodeExecutionError
            raise kind(outcome.text)
        return self._module.FinalOutput(outcome.value) if final else _printed(outcome) or None

    def _used(self, names: set[str]) -> list[str]:
        """The functions that these names need, in the order in which they came."""
        needed, new = set[str](), names & set(self._functions)
        while new:
            needed |= new
            new = set().union(*(_names(self._functions[name]) for name in new)) & set(self._functions) - needed
        return [text for name, text in self._functions.items() if name in needed]


def dspy_interpreter(client: Client | None = None, **options: Any) -> Any:
    """A `CodeInterpreter` of DSPy: `dspy.ProgramOfThought("question -> answer")(dspy_interpreter(), question=...)`.

    `SUBMIT(...)` works as the last line of a snippet, with plain data. Functions that CodeAct defines are put in
    front of the snippets that call them, where the person reads them. `variables` become inputs, if they are plain
    data. Not kept: variables and imports of an earlier snippet. `dspy.RLM` works without its functions: a snippet that
    calls `llm_query` or another function of the agent's process is refused before it is proposed. What nobody decided
    ends the program (`CodeInterpreterError`); what was denied, blocked or failed may be mended by the model.
    """
    module = importlib.import_module("dspy.primitives.code_interpreter")
    return _DspyInterpreter(client or Client(agent="dspy"), options, module)


def _interrupts(result: Any) -> Sequence[Any]:
    """The interrupts of what `invoke` answered, or interrupts as they are."""
    if isinstance(result, Mapping):
        result = result.get("__interrupt__", ())
    elif hasattr(result, "interrupts"):
        result = result.interrupts
    return result if isinstance(result, (list, tuple)) else [result]


def langgraph_resume(
    result: Any,
    client: Client | None = None,
    *,
    tool: str = TOOL_NAME,
    others: Callable[[Mapping[str, Any]], Any] | None = None,
    **options: Any,
) -> Any:
    """Answers the interrupts of LangChain's `HumanInTheLoopMiddleware`: the `Command` to resume the agent with.

        result = agent.invoke(..., version="v2")
        while result.interrupts:
            result = agent.invoke(langgraph_resume(result), config, version="v2")

    Each call of the tool is proposed, and its outcome is the answer (`respond`, in the older inbox `response`): the
    tool's own function never runs. Takes `interrupt_mode="batched"` and `"per_call"`, and the older
    `HumanInterrupt`. Let the middleware allow `respond` alone: `interrupt_on={"run_python": {"allowed_decisions":
    ["respond"]}}`. For calls of other tools `others` gets the request and gives the decision; without it they are
    an error, since nothing here approves anything. A process that resumes the same interrupt again gets the same
    proposal back. Not kept: anything between calls.
    """
    run = _Tool(client, None, "langgraph", **options)
    allowed = "let the middleware allow `respond` for this tool"

    def answer(interrupt: Any, place: int, name: str, arguments: Any, allows: Sequence[str], request: Any) -> Any:
        if name != tool:
            if others is None:
                raise InvalidRequest(
                    -32602, f"the interrupt asks about `{name}`; pass `others=` to decide what is not {tool}"
                )
            return others(request)
        if allows and "respond" not in allows:
            raise InvalidRequest(-32602, f"the interrupt about `{name}` takes {', '.join(allows)}; {allowed}")
        asked = json.dumps([getattr(interrupt, "id", ""), place, arguments], sort_keys=True, default=str)
        key = hashlib.sha256(asked.encode()).hexdigest()[:32] if getattr(interrupt, "id", "") else None
        return {"type": "respond", "message": run.call(arguments, key=key)}

    def one(interrupt: Any) -> Any:
        value = interrupt.value
        if isinstance(value, Mapping) and "action_requests" in value:
            configs = value.get("review_configs") or []
            decisions = []
            for place, action in enumerate(value["action_requests"]):
                allows = configs[place].get("allowed_decisions", ()) if place < len(configs) else ()
                decisions.append(answer(interrupt, place, action["name"], action["args"], allows, action))
            return {"decisions": decisions}
        if isinstance(value, Mapping) and value.get("type") == "tool_approval":
            return answer(interrupt, 0, value["name"], value["args"], (), value)
        requests = [value] if isinstance(value, Mapping) else value
        older = isinstance(requests, (list, tuple)) and all(
            isinstance(request, Mapping) and "action_request" in request for request in requests
        )
        if older:
            responses = []
            for place, request in enumerate(requests):
                action, config = request["action_request"], request.get("config") or {}
                allows = () if config.get("allow_respond", True) else ("accept", "edit", "ignore")
                decision = answer(interrupt, place, action["action"], action["args"], allows, request)
                ours = isinstance(decision, Mapping) and decision.get("type") == "respond"
                responses.append({"type": "response", "args": decision["message"]} if ours else decision)
            return responses
        raise InvalidRequest(-32602, "the interrupt is none of HumanInTheLoopMiddleware or of the older inbox")

    interrupts = _interrupts(result)
    if not interrupts:
        raise InvalidRequest(-32602, "there is no interrupt to answer")
    command = importlib.import_module("langgraph.types").Command
    if len(interrupts) == 1 and not getattr(interrupts[0], "id", None):
        return command(resume=one(interrupts[0]))
    return command(resume={interrupt.id: one(interrupt) for interrupt in interrupts})


def langchain_tool(client: Client | None = None, **options: Any) -> Any:
    """The tool `run_python` for LangChain agents. It proposes by itself, so it needs no middleware.

    Not kept: anything between calls.
    """
    return langchain_tools(client, **options)[0]


def langchain_tools(client: Client | None = None, **options: Any) -> list[Any]:
    """The tools `run_python` and `list_datasets` for LangChain agents."""
    run = _Tool(client, None, "langchain", **options)

    def call(**arguments: Any) -> str:
        return run.call(arguments)

    async def acall(**arguments: Any) -> str:
        return await run.acall(arguments)

    made = importlib.import_module("langchain_core.tools").StructuredTool
    return [
        made(name=TOOL_NAME, description=TOOL_DESCRIPTION, args_schema=TOOL_PARAMETERS, func=call, coroutine=acall),
        made(
            name=LIST_NAME,
            description=LIST_DESCRIPTION,
            args_schema=LIST_PARAMETERS,
            func=run.datasets,
            coroutine=run.adatasets,
        ),
    ]


def pydantic_ai_toolset() -> Any:
    """The external tools `run_python` and `list_datasets` for pydantic-ai: their calls end a run as
    `DeferredToolRequests.calls`."""
    tools = importlib.import_module("pydantic_ai.tools")
    external = importlib.import_module("pydantic_ai.toolsets.external").ExternalToolset
    definitions = [
        tools.ToolDefinition(name=name, description=description, parameters_json_schema=parameters)
        for name, description, parameters in (
            (TOOL_NAME, TOOL_DESCRIPTION, TOOL_PARAMETERS),
            (LIST_NAME, LIST_DESCRIPTION, LIST_PARAMETERS),
        )
    ]
    return external(definitions, id="countersign")


async def pydantic_ai_results(requests: Any, client: AsyncClient | None = None, **options: Any) -> Any:
    """The `DeferredToolResults` for the calls of `run_python` and `list_datasets` among `DeferredToolRequests`; what
    they propose waits side by side.

        agent = Agent(model, toolsets=[pydantic_ai_toolset()], output_type=[str, DeferredToolRequests])
        result = await agent.run("...")
        while isinstance(result.output, DeferredToolRequests):
            answers = await pydantic_ai_results(result.output)
            result = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)

    It is also a handler: `HandleDeferredToolCalls(handler=lambda context, requests:
    pydantic_ai_results(requests))`. Approvals and calls of other tools are left to whoever else answers. Not kept:
    anything between calls.
    """
    run = _Tool(None, client or AsyncClient(agent="pydantic-ai"), "pydantic-ai", **options)
    calls = [call for call in requests.calls if call.tool_name in (TOOL_NAME, LIST_NAME)]
    texts = await asyncio.gather(
        *(run.acall(call.args) if call.tool_name == TOOL_NAME else run.adatasets() for call in calls)
    )
    if client is None:
        await run.aclient.close()
    return requests.build_results(calls={call.tool_call_id: text for call, text in zip(calls, texts)})


def openai_agents_tool(client: AsyncClient | None = None, **options: Any) -> Any:
    """The function tool `run_python` for the OpenAI Agents SDK: `Agent(name="...", tools=[openai_agents_tool()])`.

    Not kept: anything between calls.
    """
    return openai_agents_tools(client, **options)[0]


def openai_agents_tools(client: AsyncClient | None = None, **options: Any) -> list[Any]:
    """The function tools `run_python` and `list_datasets` for the OpenAI Agents SDK."""
    run = _Tool(None, client or AsyncClient(agent="openai-agents"), "openai-agents", **options)

    async def invoke(context: Any, arguments: str) -> str:
        return await run.acall(arguments)

    async def listed(context: Any, arguments: str) -> str:
        return await run.adatasets()

    made = importlib.import_module("agents").FunctionTool
    return [
        made(
            name=name,
            description=description,
            params_json_schema=parameters,
            on_invoke_tool=does,
            strict_json_schema=False,
        )
        for name, description, parameters, does in (
            (TOOL_NAME, TOOL_DESCRIPTION, TOOL_PARAMETERS, invoke),
            (LIST_NAME, LIST_DESCRIPTION, LIST_PARAMETERS, listed),
        )
    ]


def llama_index_tool(client: Client | None = None, **options: Any) -> Any:
    """The `FunctionTool` `run_python` for LlamaIndex: `FunctionAgent(tools=[llama_index_tool()], llm=llm)`.

    Not kept: anything between calls.
    """
    return llama_index_tools(client, **options)[0]


def llama_index_tools(client: Client | None = None, **options: Any) -> list[Any]:
    """The `FunctionTool`s `run_python` and `list_datasets` for LlamaIndex."""
    run = _Tool(client, None, "llama-index", **options)

    def call(code: str, title: str = "", reason: str = "", datasets: Sequence[str] = ()) -> str:
        return run.call({"code": code, "title": title, "reason": reason, "datasets": list(datasets)})

    async def acall(code: str, title: str = "", reason: str = "", datasets: Sequence[str] = ()) -> str:
        return await run.acall({"code": code, "title": title, "reason": reason, "datasets": list(datasets)})

    # The annotations are read as types: the schema is made of them.
    for function in (call, acall):
        function.__annotations__ = {"code": str, "title": str, "reason": str, "datasets": list[str], "return": str}

    def listed() -> str:
        return run.datasets()

    async def alisted() -> str:
        return await run.adatasets()

    for listing in (listed, alisted):
        listing.__annotations__ = {"return": str}
    made = importlib.import_module("llama_index.core.tools").FunctionTool
    return [
        made.from_defaults(fn=call, async_fn=acall, name=TOOL_NAME, description=TOOL_DESCRIPTION),
        made.from_defaults(fn=listed, async_fn=alisted, name=LIST_NAME, description=LIST_DESCRIPTION),
    ]
