"""The OpenAI Agents SDK: a function tool."""

from scripted import ask, check_refused, example, turn  # isort: skip
import asyncio
import json

from agents import Agent, Model, ModelResponse, Runner, Usage
from countersign import AsyncClient, openai_agents_tool, openai_agents_tools
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

turn()


class Scripted(Model):
    def __init__(self, *turns):
        self.turns, self.tools = list(turns), []

    async def get_response(self, system_instructions, input, model_settings, tools, *_, **__):
        self.tools = [tool.name for tool in tools]
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            text = ResponseOutputText(text=turn, type="output_text", annotations=[])
            item = ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=[text])
        else:
            name = "run_python" if turn else "list_datasets"
            item = ResponseFunctionToolCall(
                call_id=f"c{len(self.turns)}", name=name, arguments=json.dumps(turn), type="function_call"
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


async def main():
    async with AsyncClient(agent="openai-agents") as client:
        assert openai_agents_tool(client).needs_approval is False
        model = Scripted(
            {},
            {"code": "print(sales.amount.sum())", "title": "revenue", "reason": "asked", "datasets": ["sales"]},
            {"code": "print('denied')"},
            {"code": 1},
            "done",
        )
        agent = Agent(name="analyst", model=model, tools=openai_agents_tools(client))
        ask("grant")
        ask("deny no")
        result = await Runner.run(agent, "go")
        assert result.final_output == "done" and model.tools == ["run_python", "list_datasets"]
        told = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
        assert told[0].startswith("sales (csv, 3 rows, "), told
        assert told[1] == "6", told
        check_refused(told[2], "denied", "no")
        check_refused(told[3], "`code`")


asyncio.run(main())
assert example("OpenAI Agents", model=Scripted({"code": "eval('1')"}, "done")) == "done"
print("passed")
