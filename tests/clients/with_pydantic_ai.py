"""pydantic-ai: the calls of deferred tools, between runs and within one."""

from scripted import ask, check_refused, example, turn  # isort: skip
import asyncio

from countersign import AsyncClient, pydantic_ai_results, pydantic_ai_toolset
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

turn()

TURNS = [
    [
        ToolCallPart("run_python", {"code": "print(sales.amount.sum())", "datasets": ["sales"]}, "a"),
        ToolCallPart("run_python", '{"code": "eval(\'1\')"}', "b"),
        ToolCallPart("run_python", {"text": "1"}, "c"),
        ToolCallPart("list_datasets", {}, "l"),
    ],
    [ToolCallPart("run_python", {"code": "print('denied')"}, "d")],
    [TextPart("done")],
]


def scripted():
    turns, told = [list(parts) for parts in TURNS], {}

    def answer(messages, info):
        assert [tool.name for tool in info.function_tools] == ["run_python", "list_datasets"]
        for part in messages[-1].parts:
            if isinstance(part, ToolReturnPart):
                told[part.tool_call_id] = part.content
        return ModelResponse(parts=turns.pop(0))

    return FunctionModel(answer), told


def check(told):
    assert told["a"] == "6", told
    check_refused(told["b"], "blocked")
    check_refused(told["c"], "code")
    assert told["l"].startswith("sales (csv, 3 rows, "), told
    check_refused(told["d"], "denied", "no")


async def main():
    async with AsyncClient(agent="pydantic-ai") as client:
        model, told = scripted()
        agent = Agent(model, toolsets=[pydantic_ai_toolset()], output_type=[str, DeferredToolRequests])
        ask("grant")
        ask("deny no")
        result = await agent.run("go")
        while isinstance(result.output, DeferredToolRequests):
            answers = await pydantic_ai_results(result.output, client, title="between")
            assert not answers.approvals
            result = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
        assert result.output == "done"
        check(told)

        model, told = scripted()

        async def handle(context, requests):
            return await pydantic_ai_results(requests, client, title="within")

        agent = Agent(model, toolsets=[pydantic_ai_toolset()], capabilities=[HandleDeferredToolCalls(handler=handle)])
        ask("grant")
        ask("deny no")
        assert (await agent.run("go")).output == "done"
        check(told)


asyncio.run(main())
model, told = scripted()
ask("grant")
ask("deny no")
assert example("Pydantic AI", model=model) == "done"
check(told)
print("passed")
