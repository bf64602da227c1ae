"""An agent with the package `mcp`: client.py BINARY MODE TITLE. Prints what it saw as one JSON object."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


def plain(result):
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


async def main(binary, mode, title):
    progress = []

    async def progressed(_done, _total, message):
        progress.append(message)

    server = StdioServerParameters(command=binary, args=["mcp"], env=dict(os.environ))
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('a.png')\nopen('a.txt', 'w').write('left')\nprint('six times', 7)\n"
        ran = plain(
            await client.call_tool(
                "run_python", {"code": code, "title": title}, progress_callback=progressed
            )
        )
        link = next(block for block in ran["content"] if block["type"] == "resource_link")
        left = plain(await client.read_resource(link["uri"]))
        waits = plain(
            await client.call_tool("run_python", {"code": "print(1)\n", "wait_s": 0})
        )
        blocked = plain(await client.call_tool("run_python", {"code": "import subprocess\n"}))
        wrong = plain(await client.call_tool("wait_for_run", {"id": 5}))
        seen = {
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "progress": progress,
            "ran": ran,
            "left": left["contents"][0]["text"],
            "waits": waits,
            "blocked": blocked,
            "wrong": wrong,
        }
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
