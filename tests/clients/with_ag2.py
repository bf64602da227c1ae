"""ag2 1.x: a CodeEnvironment behind its SandboxCodeTool."""

from scripted import ask, check_refused, example, turn  # isort: skip
import asyncio
import json

from ag2 import Agent
from ag2.events import ToolCallEvent
from ag2.testing import TestConfig, TrackingConfig
from ag2.tools.code import CodeEnvironment, SandboxCodeTool
from countersign import AsyncClient, ag2_environment

turn()

environment = ag2_environment(AsyncClient(agent="ag2"), title="ag2")
assert isinstance(environment, CodeEnvironment) and environment.supported_languages == ("python",)


def call(code, language="python"):
    return ToolCallEvent(name="run_code", arguments=json.dumps({"code": code, "language": language}))


async def main():
    config = TrackingConfig(TestConfig(call("print(6 * 7)"), call("print('denied')"), call("ls", "bash"), "done"))
    agent = Agent("ag2", config=config, tools=[SandboxCodeTool(environment)])
    ask("grant")
    ask("deny no")
    reply = await agent.ask("multiply")
    events = [call.args[0] for call in config.mock.call_args_list][1:]
    told = [event.results[0].result.parts[0].content for event in events]
    assert told[0] == "42", told
    check_refused(told[1], "denied", "[exit code: 3]")
    assert "Only Python" in told[2], told
    assert "done" in str(reply.body), reply


asyncio.run(main())
config = TrackingConfig(TestConfig(call("eval('1')"), "done"))
assert example("AG2", config=config) == "done"
check_refused(config.mock.call_args.args[0].results[0].result.parts[0].content, "blocked")
print("passed")
