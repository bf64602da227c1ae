"""LlamaIndex: a FunctionTool of a FunctionAgent."""

from scripted import ask, check_refused, example, turn  # isort: skip
import asyncio

from countersign import Client, llama_index_tool, llama_index_tools
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import ToolSelection

turn()


class Scripted(FunctionCallingLLM):
    turns: list

    @property
    def metadata(self):
        return LLMMetadata(is_function_calling_model=True)

    def _next(self):
        turn = self.turns.pop(0)
        text, kwargs = (turn, {}) if isinstance(turn, str) else ("", {"call": turn})
        return ChatResponse(message=ChatMessage(role="assistant", content=text, additional_kwargs=kwargs))

    async def achat_with_tools(self, tools, **_):
        assert [tool.metadata.name for tool in tools] in (["run_python"], ["run_python", "list_datasets"])
        assert set(tools[0].metadata.get_parameters_dict()["properties"]) == {"code", "title", "reason", "datasets"}
        return self._next()

    async def astream_chat_with_tools(self, tools, **kwargs):
        response = await self.achat_with_tools(tools, **kwargs)

        async def stream():
            yield response

        return stream()

    def get_tool_calls_from_response(self, response, **_):
        call = response.message.additional_kwargs.get("call")
        if call is None:
            return []
        return [ToolSelection(tool_id="t", tool_name="run_python" if call else "list_datasets", tool_kwargs=call)]

    def _prepare_chat_with_tools(self, *_, **__):
        raise NotImplementedError

    def chat(self, *_, **__):
        raise NotImplementedError

    async def achat(self, *_, **__):
        raise NotImplementedError

    def complete(self, *_, **__):
        raise NotImplementedError

    async def acomplete(self, *_, **__):
        raise NotImplementedError

    def stream_chat(self, *_, **__):
        raise NotImplementedError

    async def astream_chat(self, *_, **__):
        raise NotImplementedError

    def stream_complete(self, *_, **__):
        raise NotImplementedError

    async def astream_complete(self, *_, **__):
        raise NotImplementedError


async def main():
    client = Client(agent="llama-index")
    model = Scripted(
        turns=[
            {},
            {"code": "print(sales.amount.sum())", "title": "revenue", "datasets": ["sales"]},
            {"code": "print('denied')"},
            "done",
        ]
    )
    handler = FunctionAgent(tools=llama_index_tools(client), llm=model).run("go")
    ask("grant")
    ask("deny no")
    told = [event.tool_output.content async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
    assert told[0].startswith("sales (csv, 3 rows, "), told
    assert told[1] == "6", told
    check_refused(told[2], "denied", "no")
    assert str(await handler) == "done"
    ask("grant")
    assert llama_index_tool(client).call(code="print('blocking')").content == "blocking"


asyncio.run(main())
assert example("LlamaIndex", llm=Scripted(turns=[{"code": "eval('1')"}, "done"])) == "done"
print("passed")
