"""LangChain and LangGraph: interrupts that are answered by runs, and the tool alone."""

from scripted import ask, check_refused, example, turn  # isort: skip
import warnings

from countersign import Client, InvalidRequest, langchain_tool, langchain_tools, langgraph_resume
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt.interrupt import ActionRequest, HumanInterrupt, HumanInterruptConfig
from langgraph.types import interrupt

turn()


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


@tool
def run_python(code: str) -> str:
    """Runs Python."""
    raise AssertionError("the tool itself never runs")


@tool
def send(to: str) -> str:
    """Sends."""
    return f"sent to {to}"


def turns(*codes):
    calls = [{"name": "run_python", "args": {"code": code}, "id": f"c{n}"} for n, code in enumerate(codes)]
    return AIMessage("", tool_calls=calls)


client = Client(agent="langgraph")
RESPOND = {"run_python": {"allowed_decisions": ["respond"]}}


def agent(mode, *messages, interrupt_on=RESPOND):
    return create_agent(
        Scripted(messages=iter([*messages, AIMessage("done")])),
        tools=[run_python, send],
        middleware=[HumanInTheLoopMiddleware(interrupt_on=interrupt_on, interrupt_mode=mode)],
        checkpointer=InMemorySaver(),
    )


def play(made, config, **options):
    result = made.invoke({"messages": [{"role": "user", "content": "go"}]}, config, version="v2")
    while result.interrupts:
        result = made.invoke(langgraph_resume(result, client, **options), config, version="v2")
    messages = result.value["messages"]
    assert messages[-1].content == "done", messages
    return [m.content for m in messages if isinstance(m, ToolMessage)]


for mode in ("batched", "per_call"):
    config = {"configurable": {"thread_id": mode}}
    made = agent(mode, turns("print(6 * 7)", "print('denied')"), turns("eval('1')"))
    ask("grant")
    ask("deny no")
    *both, third = play(made, config, title=mode)
    # Interrupts that are asked one by one come in any order, and the first to come is granted.
    granted = [text for text in both if "did not run" not in text]
    assert granted in (["42"], ["denied"]), both
    [refused] = [text for text in both if text not in granted]
    check_refused(refused, "denied", "no")
    check_refused(third, "blocked")

# Other tools are decided by others; nothing here approves anything.
mixed = AIMessage(
    "",
    tool_calls=[
        {"name": "run_python", "args": {"code": "eval('1')"}, "id": "a"},
        {"name": "send", "args": {"to": "Ada"}, "id": "b"},
    ],
)
gates = {**RESPOND, "send": {"allowed_decisions": ["approve", "reject"]}}
config = {"configurable": {"thread_id": "mixed"}}
try:
    play(agent("batched", mixed, interrupt_on=gates), config)
except InvalidRequest as error:
    assert "others=" in str(error) and "send" in str(error)
else:
    raise AssertionError("somebody else's tool was decided")
seen = []


def reject(request):
    seen.append(request["name"])
    return {"type": "reject", "message": "not by me"}


config = {"configurable": {"thread_id": "mixed too"}}
told = play(agent("batched", mixed, interrupt_on=gates), config, others=reject)
assert seen == ["send"] and any("not by me" in text for text in told), (seen, told)
gates = {"run_python": {"allowed_decisions": ["approve"]}}
try:
    play(agent("batched", turns("1"), interrupt_on=gates), {"configurable": {"thread_id": "approve"}})
except InvalidRequest as error:
    assert "respond" in str(error)
else:
    raise AssertionError("an interrupt without `respond` was answered")

# The older inbox, and a process that resumes the same interrupt twice.
warnings.simplefilter("ignore")


def inbox(state):
    request = HumanInterrupt(
        action_request=ActionRequest(action="run_python", args={"code": state["code"]}),
        config=HumanInterruptConfig(allow_ignore=False, allow_respond=True, allow_edit=False, allow_accept=False),
        description=None,
    )
    (answer,) = interrupt([request])
    assert answer["type"] == "response"
    return {"answer": answer["args"]}


graph = StateGraph(dict).add_node("inbox", inbox).add_edge(START, "inbox").add_edge("inbox", END)
graph = graph.compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "inbox"}}
result = graph.invoke({"code": "print('older')"}, config)
ask("grant")
command = langgraph_resume(result, client, title="inbox")
assert langgraph_resume(result, client, title="inbox") == command
assert graph.invoke(command, config)["answer"] == "older"

# The tools alone.
LIST = AIMessage("", tool_calls=[{"name": "list_datasets", "args": {}, "id": "l"}])
made = create_agent(
    Scripted(messages=iter([LIST, turns("print('alone')"), turns("eval('1')"), AIMessage("done")])),
    tools=langchain_tools(client, title="tool"),
)
assert langchain_tool(client).name == "run_python"
ask("grant")
messages = made.invoke({"messages": [{"role": "user", "content": "go"}]})["messages"]
told = [m.content for m in messages if isinstance(m, ToolMessage)]
assert told[0].startswith("sales (csv, 3 rows, "), told
assert told[1] == "alone", told
check_refused(told[2], "blocked")
names = {"model": Scripted(messages=iter([turns("eval('1')"), AIMessage("done")])), "run_python": run_python}
example("LangChain and LangGraph", **names)
print("passed")
