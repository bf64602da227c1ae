"""DSPy: a CodeInterpreter under ProgramOfThought and CodeAct."""

from scripted import ask, check_refused, example, turn  # isort: skip

import countersign as cs
import dspy
from dspy.primitives.code_interpreter import CodeExecutionError, CodeInterpreter, CodeInterpreterError, FinalOutput
from dspy.utils import DummyLM

turn()

interpreter = cs.dspy_interpreter(cs.Client(agent="dspy"), title="dspy")
assert isinstance(interpreter, CodeInterpreter)


def raises(kind, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind, error
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


# The protocol.
ask("grant")
assert interpreter.execute("print(sum(numbers))", {"numbers": [1, 2], "unused": object()}) == "3\n"
ask("grant")
assert interpreter.execute("SUBMIT(total=6 * 7)") == FinalOutput({"total": 42})
raises(SyntaxError, lambda: interpreter.execute("print("))
assert "plain data" in raises(CodeExecutionError, lambda: interpreter.execute("print(x)", {"x": object()}))
assert "last line" in raises(CodeExecutionError, lambda: interpreter.execute("if 1:\n    SUBMIT(1)"))
check_refused(raises(CodeExecutionError, lambda: interpreter.execute("eval('1')")), "blocked")
quick = cs.dspy_interpreter(interpreter.client, ttl_s=1, inputs={"more": cs.from_json(41)})
check_refused(raises(CodeInterpreterError, lambda: quick.execute("print(more + x)", {"x": 1})), "expired")
assert "both" in raises(CodeExecutionError, lambda: quick.execute("print(more)", {"more": 1}))
nobody = cs.dspy_interpreter(cs.Client("/nonexistent"))
assert "start" in raises(CodeInterpreterError, lambda: nobody.execute("print(1)"))

# ProgramOfThought: denied, then mended.
answers = [
    {"reasoning": "r", "generated_code": "```python\nSUBMIT({'answer': 1})\n```"},
    {"reasoning": "r", "generated_code": "```python\nSUBMIT({'answer': 6 * 7})\n```"},
    {"reasoning": "r", "answer": "42"},
]
with dspy.context(lm=DummyLM(answers)):
    program = dspy.ProgramOfThought("question -> answer: int", max_iters=3)
    ask("deny wrong")
    ask("grant")
    assert program(interpreter, question="6 * 7").answer == 42


def double(x: int) -> int:
    """Doubles."""
    return 2 * x


# CodeAct: its tools are put in front of the snippets that call them.
answers = [
    {"generated_code": "```python\nprint(double(21))\n```", "finished": True},
    {"reasoning": "r", "answer": "42"},
]
with dspy.context(lm=DummyLM(answers)):
    ask("grant")
    act = dspy.CodeAct("question -> answer: int", tools=[double], max_iters=1)
    done = act(cs.dspy_interpreter(interpreter.client, title="code act"), question="twice 21")
    assert done.answer == 42 and "42" in done.trajectory["code_output_0"], done

# RLM: its functions are of the agent's process, and the rest works.
answers = [
    {"reasoning": "r", "code": "print(llm_query('x'))"},
    {"reasoning": "r", "code": "SUBMIT(answer=context.upper())"},
]
with dspy.context(lm=DummyLM(answers)):
    rlm = dspy.RLM("context, question -> answer", max_iters=2)
    ask("grant")
    done = rlm(
        interpreter_factory=lambda: cs.dspy_interpreter(interpreter.client, title="rlm"), context="seen", question="q"
    )
    assert done.answer == "SEEN", done
    assert "`llm_query` is a function of the agent's process" in done.trajectory[0]["output"], done.trajectory
answers = [
    {"reasoning": "r", "generated_code": "SUBMIT({'answer': 6 * 7})"},
    {"reasoning": "r", "answer": "42"},
]
with dspy.context(lm=DummyLM(answers)):
    ask("grant")
    assert example("DSPy") == "42"
print("passed")
