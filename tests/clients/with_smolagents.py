"""smolagents: a CodeAgent whose executor is Countersign."""

from scripted import ask, check_refused, example, turn  # isort: skip
from countersign import AGENT_INSTRUCTIONS, Client, _Snippet, from_json, smolagents_executor
from smolagents import CodeAgent
from smolagents.local_python_executor import PythonExecutor
from smolagents.models import ChatMessage, MessageRole, Model
from smolagents.tools import tool

turn()


class Scripted(Model):
    def __init__(self, *turns):
        super().__init__(model_id="scripted")
        self.turns, self.seen = list(turns), []

    def generate(self, messages, **_):
        self.seen.append(str(messages[-1].content))
        request, code = self.turns.pop(0)
        if request:
            ask(request)
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: so\n<code>\n{code}\n</code>")


@tool
def weather(city: str) -> str:
    """The weather.

    Args:
        city: where
    """
    raise AssertionError("no tool runs in the agent's process")


executor = smolagents_executor(Client(agent="smol"), title="smolagents")
assert isinstance(executor, PythonExecutor)
model = Scripted(
    ("deny not like this", "print(sum(numbers))"),
    (None, "print(open('/etc/passwd').read())"),
    (None, "print(weather('Oslo'))"),
    (None, "if numbers:\n    final_answer(1)"),
    ("grant", "print('seen', sum(numbers))\nraise ValueError('oops')"),
    ("grant", "total = sum(numbers)\nprint('total', total)\nopen('t.txt', 'w').write('x')"),
    (None, "print(total)"),
    ("grant", "total = sum(numbers)\nfinal_answer({'total': total})"),
)
agent = CodeAgent(tools=[weather], model=model, executor=executor, instructions=AGENT_INSTRUCTIONS, verbosity_level=0)
answer = agent.run("add them", additional_args={"numbers": [1, 2, 39]})
assert answer == {"total": 42}, answer
told = model.seen
assert "fresh process" in agent.system_prompt
check_refused(told[1], "denied", "not like this")
check_refused(told[2], "blocked", "output folder")
assert "tool of the agent's process" in told[3] and "last line" in told[4], told[3:5]
assert "seen 42" in told[5] and "ValueError" in told[5] and "oops" in told[5], told[5]
assert "total 42" in told[6] and "t.txt (text/plain, 1 bytes)" in told[6], told[6]
# Nothing is kept: a name of an earlier snippet is certain to fail, and no person is asked.
check_refused(told[7], "blocked", "total")
quick = smolagents_executor(Client(agent="smol"), ttl_s=1, inputs={"more": from_json(41)})
try:
    quick("print(more + 1)")
except _Snippet as e:
    check_refused(str(e), "expired")
else:
    raise AssertionError("nobody granted it")
printed = example("smolagents", model=Scripted(("grant", "final_answer(6 * 7)")))
assert printed.endswith("42"), printed
print("passed")
