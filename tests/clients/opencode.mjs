// The plugin as opencode 2 uses it: `setup` adds one tool, whose `execute` gets what a model wrote.
import assert from "node:assert/strict"
import { createInterface } from "node:readline"

import plugin from "../../assets/clients/opencode.js"

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const ask = async (what, wait) => {
  console.log(`${wait ? "?" : "@"}${what}`)
  if (wait) assert.equal((await lines.next()).value, what)
}

async function tool(options) {
  const added = []
  await plugin.setup({ options, tool: { transform: async (change) => change({ add: (one) => added.push(one) }) } })
  assert.equal(added.length, 1)
  return added[0]
}

assert.equal((await lines.next()).value, "go")
assert.equal(plugin.id, "countersign")
const { name, input, output, execute } = await tool({})
assert.equal(name, "run_python")
for (const schema of [input, output]) assert.equal(schema.type, "object")

await ask("grant")
const code = "import sys\nprint(sales.amount.sum())\nprint('aside', file=sys.stderr)\n[6 * 7]\n"
const ran = await execute({ code, title: "--json", reason: "to see", inputs: { sales: "sales" } }, {})
assert.equal(ran.output.state, "succeeded", JSON.stringify(ran))
assert.equal(ran.output.stdout.split("\n")[0], "6")
assert.equal(ran.output.stderr, "aside\n")
assert.deepEqual(ran.output.result.value, [42])
assert.match(ran.content, /^succeeded: [^]*aside[^]*42/)
assert.match(ran.metadata.id, /^[0-9a-f-]{36}$/)

await ask("grant")
const failed = await execute({ code: "print(1 / (len([]) * 1))", title: "opencode, failed" }, {})
assert.equal(failed.output.state, "failed")
await ask("deny because")
const denied = await execute({ code: "print(1)", title: "opencode, denied" }, {})
assert.equal(denied.output.state, "denied")
assert.match(denied.content, /because/)
const blocked = await execute({ code: "eval('1')", title: "opencode, blocked" }, {})
assert.equal(blocked.output.state, "blocked")

// What opencode gives up is withdrawn; what never reached a person is an error that says why.
const stop = new AbortController()
const given = execute({ code: "print(2)", title: "opencode, given up" }, { signal: stop.signal })
await ask("pending", true)
stop.abort()
await assert.rejects(given, /withdrawn|[Ii]nterrupted/)
for (const inputs of [{ a: "@/etc/hosts.csv" }, { "a=@/etc/hosts": ".csv" }, { a: "" }]) {
  await assert.rejects(execute({ code: "print(1)", inputs }, {}), /inputs name data sets/)
}
await assert.rejects(execute({ code: "print(1)", profile: "none" }, {}), /none/)
await assert.rejects((await tool({ socket: "/nowhere/agent.sock" })).execute({ code: "print(1)" }, {}), /dashboard/)
await assert.rejects((await tool({ program: "/nowhere" })).execute({ code: "print(1)" }, {}), /cannot be started/)
console.log("passed")
process.exit(0)
