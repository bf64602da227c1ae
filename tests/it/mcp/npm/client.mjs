// An agent with a package of npm: client.mjs BINARY PACKAGE MODE TITLE. Prints what it saw as one JSON object.
const [binary, which, mode, title] = process.argv.slice(2);

const { Client, StdioClientTransport } = await (async () => {
    if (which === 'client') {
        const { Client } = await import('@modelcontextprotocol/client');
        const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
        return { Client, StdioClientTransport };
    }
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    return { Client, StdioClientTransport };
})();

const options = which === 'client' ? { versionNegotiation: { mode } } : {};
const client = new Client({ name: `npm-${which}`, version: '1' }, options);
await client.connect(new StdioClientTransport({ command: binary, args: ['mcp'], env: process.env }));

const progress = [];
const call = (name, args, more) =>
    which === 'client'
        ? client.callTool({ name, arguments: args }, more)
        : client.callTool({ name, arguments: args }, undefined, more);

const { tools } = await client.listTools();
const code =
    "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('a.png')\nopen('a.txt', 'w').write('left')\nprint('six times', 7)\n";
const ran = await call(
    'run_python',
    { code, title },
    { onprogress: note => progress.push(note.message), resetTimeoutOnProgress: true, timeout: 60000, maxTotalTimeout: 180000 }
);
const link = ran.content.find(block => block.type === 'resource_link');
const left = await client.readResource({ uri: link.uri });
// A task of revision 2025-11-25.
const task = [];
if (which === 'sdk') {
    const call = { name: 'run_python', arguments: { code: 'print(2)\n', title: `${title}, a task` } };
    for await (const message of client.experimental.tasks.callToolStream(call, undefined, { task: { ttl: 60000 } })) {
        task.push(message.type === 'result' ? message.result.structuredContent.stdout : message.type);
    }
}

const waits = await call('run_python', { code: 'print(1)\n', wait_s: 0 });
const blocked = await call('run_python', { code: 'import subprocess\n' });
const wrong = await call('wait_for_run', { id: 5 });

// A cancelled call withdraws.
const stop = new AbortController();
const cancelled = call('run_python', { code: 'print(2)\n', title: `${title}, cancelled` }, {
    signal: stop.signal,
    onprogress: () => stop.abort('the user stopped it'),
}).then(
    () => false,
    () => true
);
const seen = {
    version: which === 'client' ? client.getNegotiatedProtocolVersion?.() : undefined,
    tools: tools.map(tool => tool.name),
    progress,
    ran,
    left: left.contents[0].text,
    waits,
    blocked,
    wrong,
    task,
    cancelled: await cancelled,
};
await client.close();
console.log(JSON.stringify(seen));
