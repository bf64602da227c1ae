"""autogen-core: a CodeExecutor."""

from scripted import ask, check_refused, example, turn  # isort: skip
import asyncio

from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock, CodeExecutor
from countersign import AsyncClient, autogen_executor

turn()


def block(code, language="python"):
    return CodeBlock(code=code, language=language)


async def main():
    async with autogen_executor(AsyncClient(agent="autogen"), title="autogen") as executor:
        assert isinstance(executor, CodeExecutor)
        never = CancellationToken()

        async def run(*blocks):
            return await executor.execute_code_blocks(list(blocks), never)

        ask("grant")
        ask("grant")
        both = await run(block("print('first')"), block("print('second')", "py"))
        assert (both.exit_code, both.output) == (0, "first\nsecond"), both
        ask("deny no")
        denied = await run(block("print('denied')"), block("print('never proposed')"))
        assert denied.exit_code == 3
        check_refused(denied.output, "denied", "no")
        other = await run(block("rm -rf /", "sh"))
        assert other.exit_code == 2 and "Only Python" in other.output and "sh" in other.output, other
        token = CancellationToken()
        task = asyncio.create_task(executor.execute_code_blocks([block("print('cancelled')")], token))
        await asyncio.to_thread(ask, "pending", True)
        token.cancel()
        (error,) = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(error, asyncio.CancelledError), error
        await executor.restart()
        blocked = await run(block("import socket"))
        assert blocked.exit_code == 5
        check_refused(blocked.output, "blocked", "socket")


asyncio.run(main())
ask("grant")
assert example("AutoGen") == "0 42"
print("passed")
