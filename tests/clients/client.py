"""The client itself, against a real dashboard."""

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import socket
import tempfile
import threading
import time

import countersign as cs
from scripted import ask, example, turn

turn()


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


# What is not there, or no dashboard.
nobody = raises(cs.NoDashboard, lambda: cs.Client("/nonexistent/agent.sock").run("1"))
assert "start" in str(nobody) and "/nonexistent/agent.sock" in str(nobody), nobody
for environment, path in [
    ({"COUNTERSIGN_SOCKET": "/a", "XDG_RUNTIME_DIR": "/r"}, "/a"),
    ({"COUNTERSIGN_SOCKET": "", "XDG_RUNTIME_DIR": "/r"}, "/r/countersign/agent.sock"),
    ({"XDG_RUNTIME_DIR": "relative", "HOME": "/h"}, "/h/.local/state/countersign/run/agent.sock"),
    ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/countersign/run/agent.sock"),
    ({"COUNTERSIGN_STATE_DIR": "/d", "HOME": "/h"}, "/d/run/agent.sock"),
]:
    assert cs.socket_path(environment) == path, environment

client = cs.Client(agent={"name": "client-py", "model": "scripted"})

# Questions that ask nobody.
hello = client.hello()
assert hello.server["name"] == "countersign" and "analysis" in [p["name"] for p in hello.profiles]
verdict = client.check("import os\nos.system('ls')\n")
assert verdict.verdict == "blocked" and not verdict.may_run and "line 2" in " ".join(map(str, verdict.findings)), (
    verdict
)
assert client.check("print(1)").may_run
# A data set that is no input; without inputs nobody can tell.
assert client.check("print(sales)").may_run
missing = client.check("print(sales)", inputs={})
assert missing.verdict == "blocked" and "name it in `inputs`" in str(missing.findings[0]), missing
assert client.check("print(sales)", inputs={"sales": cs.from_dataset("sales")}).may_run
(sales,) = client.datasets()
assert (sales.name, sales.format, sales.rows) == ("sales", "csv", 3) and sales.columns[0][0] == "region", sales

# Granted: what it printed, its value, its files.
ask("grant")
code = """open('a.csv', 'w').write('x,y\\n1,2\\n')
for n in range(20):
    open(f'f{n}.txt', 'w').write('x')
print(sales.amount.sum(), factor)
sales.shape[0]
"""
done = client.run(
    code,
    title="three answers",
    reason="to see them",
    inputs={"sales": cs.from_dataset("sales"), "factor": cs.from_json({"k": [1, 2]})},
)
assert done.succeeded and done.ran and done.exit_code == 0 and done.value == 3, done
assert done.stdout.startswith("6 {'k': [1, 2]}\n") and done.text.startswith("6 {'k'"), done.text
assert done.digest == "sha256:" + hashlib.sha256(code.encode()).hexdigest()
assert f"Files of the run {done.id}: a.csv (text/csv, 8 bytes)" in done.text, done.text
# What a model must know besides: one file too many, and what a value leaves out.
assert "f19.txt" in done.message and done.message.removeprefix("It ran and succeeded. ") in done.text, done.text
left_out = {**done.raw, "run": {**done.raw["run"], "result": {"value": [1], "value_left_out": ["a lock", "a file"]}}}
assert "Left out of its value: a lock; a file." in cs.Outcome.of(left_out).text
(file,) = [a for a in done.run.artifacts if a.name == "a.csv"]
assert client.artifact(done.id, file) == b"x,y\n1,2\n" == client.artifact(done.id, "a.csv")
other = cs.Artifact(file.name, file.media_type, file.bytes, "0" * 64)
assert "SHA-256" in str(raises(cs.ProtocolError, lambda: client.artifact(done.id, other)))

# Failed: ran, and says what to change.
ask("grant")
failed = client.run("print('before')\n1 / len([])\n", inputs={})
assert failed.state == "failed" and failed.exit_code == 1 and failed.run.error.exception == "ZeroDivisionError", failed
assert "before" in failed.text and "ran and failed" in failed.text and "ZeroDivisionError" in failed.text, failed.text

# None of these ran.
ask("deny too broad")
denied = client.run("print('denied')")
assert (denied.state, denied.exit_code, denied.ran, denied.reason) == ("denied", 3, False, "too broad"), denied
assert "did not run (denied)" in denied.text and "too broad" in denied.text, denied.text
assert "Do not propose the same code again" in denied.text, denied.text
blocked = client.run("import os\nos.system('ls')\n")
assert (blocked.state, blocked.exit_code, blocked.ran) == ("blocked", 5, False), blocked
assert "did not run (blocked)" in blocked.text and "line" in blocked.text and "change" in blocked.text, blocked.text
expired = client.run("print('expired')", ttl_s=1)
assert (expired.state, expired.exit_code, expired.retry) == ("expired", 4, "same"), expired
assert "may propose it again" in expired.text and "Do not" not in expired.text, expired.text
late = client.run("print('late')", timeout_s=0.2)
assert late.state == "withdrawn" and "may propose the same code again" in late.text, late

# Refused before there is a proposal.
assert "analysis" in str(raises(cs.UnknownName, lambda: client.run("1", profile="nonsense")))
assert "sales" in str(raises(cs.UnknownName, lambda: client.run("x", inputs={"x": cs.from_dataset("nonsense")})))
assert raises(cs.TooLarge, lambda: client.run("#" * 70000)).code == -32001
assert raises(cs.TooLarge, lambda: client.run("#" * (cs.FRAME_MAX + 1))).code == -32001
raises(cs.InvalidRequest, lambda: client.run("1", ttl_s=0))
assert "from_json" in str(raises(cs.InvalidRequest, lambda: client.run("1", inputs={"x": 1})))
assert "JSON" in str(raises(cs.InvalidRequest, lambda: client.run("1", inputs={"x": cs.from_json(object())})))
raises(cs.UnknownId, lambda: client.status("nonsense"))
# Arguments of wrong types never leave this process.
for call, words in [
    (lambda: client.run(1), "`code` must be a text, not int"),
    (lambda: client.run("1", title=2), "`title` must be a text, not int"),
    (lambda: client.run("1", profile=["a"]), "`profile` must be a text, not list"),
    (lambda: client.run("1", ttl_s="30"), "`ttl_s` must be a whole number, not str"),
    (lambda: client.run("1", ttl_s=True), "`ttl_s` must be a whole number, not bool"),
    (lambda: client.run("1", timeout_s="5"), "`timeout_s` must be a number, not str"),
    (lambda: client.run("1", inputs=["sales"]), "`inputs` must be a mapping, not list"),
    (lambda: client.run("1", inputs={"x": "sales"}), "the input `x` must be made by from_dataset"),
    (lambda: client.run("1", inputs={"x": cs.from_json({1, 2})}), "the input `x` is no plain JSON"),
    (lambda: client.run("'\ud800'"), "`code` is no plain JSON"),
    (lambda: client.check(None), "`code` must be a text, not NoneType"),
    (lambda: client.wait(5), "`id` must be a text, not int"),
    (lambda: client.artifact(done.id, 3), "`name` must be a text, not int"),
    (lambda: cs.from_dataset(None), "`name` must be a text, not NoneType"),
    (lambda: cs.Client(5), "`path` must be a text, not int"),
    (lambda: cs.Client(agent=5), "`agent` must be a mapping, not int"),
]:
    error = raises(TypeError, call)
    assert isinstance(error, cs.CountersignError) and words in str(error), error

# In steps, by several threads over one connection.
first, second = client.propose("print('first')", key="k1"), client.propose("print('second')")
assert first.state == second.state == "pending" and first.verdict.verdict == "clear" and first.expires_at
assert client.propose("print('first')", key="k1").id == first.id
assert "idempotency_key" in str(raises(cs.InvalidRequest, lambda: client.propose("print('other')", key="k1")))
assert client.wait(first.id, timeout_s=0.05) is None and client.status(first.id)["state"] == "pending"
waited = []
thread = threading.Thread(target=lambda: waited.append(client.wait(first.id)))
thread.start()
assert client.withdraw(second.id) == "withdrawn" and client.wait(second.id).state == "withdrawn"
assert client.withdraw(first.id) == "withdrawn"
thread.join()
assert waited[0].state == "withdrawn"


# The connection breaks while a person reads: the same proposal is waited for, over another connection.
def in_thread(run):
    ended = []
    thread = threading.Thread(target=lambda: ended.append(run()))
    thread.start()
    return lambda: (thread.join(), ended[0])[1]


end = in_thread(lambda: client.run("print('once')", title="broken"))
ask("pending", wait=True)
client._connection.socket.shutdown(2)
ask("grant", wait=True)
assert end().stdout == "once\n"

# A dashboard is killed and started again: what was pending there is proposed there again.
session = client.session
idle = cs.Client(agent="idle")
assert idle.datasets()
end = in_thread(lambda: client.run("print('restarted')", title="restarted"))
ask("pending", wait=True)
ask("kill", wait=True)
raises(cs.NoDashboard, lambda: cs.Client().datasets())
ask("start", wait=True)
ask("grant", wait=True)
assert end().stdout == "restarted\n" and client.session != session
# A client that did nothing meanwhile connects anew.
proposal = idle.propose("print('idle')")
assert proposal.state == "pending" and idle.withdraw(proposal.id) == "withdrawn"

# A wait that is interrupted takes its proposal back.
bystander = cs.Client(agent="bystander")


class Interrupted(BaseException):
    pass


def interrupted(*_):
    raise Interrupted


signal.signal(signal.SIGALRM, interrupted)
signal.setitimer(signal.ITIMER_REAL, 0.5)
raises(Interrupted, lambda: bystander.run("print('interrupted')", title="interrupted"))
assert bystander.datasets()[0].name == "sales"


async def asynchronous():
    async with cs.AsyncClient(agent="client-py-async") as client:
        assert (await client.hello()).session and (await client.check("print(1)")).may_run
        assert (await client.datasets())[0].name == "sales"
        denied = asyncio.create_task(client.run("print('denied')", title="async"))
        blocked = await client.run("eval('1')")
        assert blocked.state == "blocked" and not denied.done()
        ask("deny not now")
        assert (await denied).reason == "not now"
        expired = await client.run("print('expired')", ttl_s=1)
        assert expired.state == "expired"
        assert (await client.run("print('late')", timeout_s=0.2)).state == "withdrawn"
        # A broken connection.
        task = asyncio.create_task(client.run("open('f.txt', 'w').write('left')\nprint('once')", title="broken"))
        await asyncio.to_thread(ask, "pending", True)
        client._connection._writer.transport.abort()
        ask("grant")
        done = await task
        assert done.stdout == "once\n", done
        assert await client.artifact(done.id, done.run.artifacts[0]) == b"left", done.run.artifacts
        # A dashboard that comes back.
        task = asyncio.create_task(client.run("print('restarted')", title="restarted"))
        await asyncio.to_thread(ask, "pending", True)
        await asyncio.to_thread(ask, "kill", True)
        await asyncio.to_thread(ask, "start", True)
        ask("grant")
        assert (await task).stdout == "restarted\n"
        # A cancelled task takes its proposal back.
        task = asyncio.create_task(client.run("print('cancelled')", title="cancelled"))
        await asyncio.to_thread(ask, "pending", True)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        # Also one whose id is not known yet.
        task = asyncio.create_task(client.run("print('early')", title="early"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        proposal = await client.propose("print('steps')")
        assert await client.wait(proposal.id, timeout_s=0.05) is None
        assert (await client.status(proposal.id))["state"] == "pending"
        assert await client.withdraw(proposal.id) == "withdrawn"
        try:
            await client.run("1", profile="nonsense")
        except cs.UnknownName as error:
            assert "analysis" in str(error)
        return client


left = asyncio.run(asynchronous())
# Another loop: it connects anew.
assert asyncio.run(left.datasets())[0].name == "sales"


# What does not speak the protocol.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "s")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def serve(*answers):
        def serving():
            peer, _ = listener.accept()
            file = peer.makefile("rb")
            for answer in answers:
                file.readline()
                with contextlib.suppress(OSError):
                    peer.sendall(answer)
            peer.close()

        threading.Thread(target=serving, daemon=True).start()

    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode() + b"\n"
    for answers, kind in [
        ((b"no JSON\n",), cs.ProtocolError),
        ((b"[]\n",), cs.ProtocolError),
        ((b'{"id": 1}\n',), cs.ProtocolError),
        ((b"x" * (3 * cs.FRAME_MAX),), cs.ProtocolError),
        ((hello, b""), cs.ConnectionLost),
        ((hello, b'{"id": null, "error": {"code": -32001, "message": "too long"}}\n'), cs.TooLarge),
        ((hello, b'{"id": 2, "error": {"code": -32002, "message": "full"}}\n'), cs.Busy),
    ]:
        # A question is asked once more over another connection, if this one breaks.
        times = 2 if kind is cs.ConnectionLost else 1
        for _ in range(times):
            serve(*answers)
        raises(kind, lambda: cs.Client(path).datasets())
        for _ in range(times):
            serve(*answers)

        async def asked():
            async with cs.AsyncClient(path) as client:
                await client.datasets()

        raises(kind, lambda: asyncio.run(asked()))
    # Busy: asked again after the time that the answer names.
    busy = b'{"id": 2, "error": {"code": -32002, "message": "full", "data": {"retry_after_ms": 300}}}\n'
    proposed = b'{"id": 3, "result": {"id": "i", "state": "blocked"}}\n'
    ended = b'{"id": 4, "result": {"id": "i", "state": "blocked", "message": "m", "retry": "changed"}}\n'
    serve(hello, busy, proposed, ended)
    began = time.monotonic()
    assert cs.Client(path).run("1").state == "blocked" and time.monotonic() - began >= 0.3
    # So is a dashboard that closes.
    data = b'{"closing": true, "retry_after_ms": 9}'
    closing = b'{"id": 2, "error": {"code": -32603, "message": "closes", "data": ' + data + b"}}\n"
    serve(hello, closing, proposed, ended)
    assert cs.Client(path).run("1").state == "blocked"
    serve(hello, closing)
    raises(cs.Closing, lambda: cs.Client(path).check("1"))
    serve(hello, busy)
    raises(cs.Busy, lambda: cs.Client(path, reconnect_s=0.1).run("1"))
    serve(hello, busy)
    raises(cs.Busy, lambda: cs.Client(path).run("1", timeout_s=0.1))

ask("grant")
assert example("Agents in frameworks") == "succeeded 6"
ask("grant")
told = example("Values and files").splitlines()
assert told[0] == "6" and told[1].startswith("copy.csv b'region,amount\\nnorth,1"), told
ask("grant")
ask("grant")
assert example("Several at once") == "succeeded 4\nsucceeded 9"
print("passed")
