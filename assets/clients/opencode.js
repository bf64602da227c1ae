// Licence: MIT OR Apache-2.0, at your choice.
/**
 * The tool `run_python` for opencode 2: a person reads the snippet in a Countersign dashboard and decides whether it runs.
 *
 * Copy this file to `.opencode/plugins/countersign.js` of a project, or to `~/.config/opencode/plugins/`. It needs nothing but
 * the command `countersign`. Options of the plugin: `program` (the command's path) and `socket`.
 *
 * It hands the code to `countersign submit --json` and returns what came of it. Nothing here runs code, decides, or says
 * "allow" to another tool.
 */
import { spawn } from "node:child_process"

/** Names as the command takes them: no `@`, behind which it would read a file, and no `=`. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

const DESCRIPTION =
  "Runs Python after a person read the snippet in a terminal and granted it. Waiting for that person can take minutes and " +
  "is no error. Each snippet runs in a fresh process without network: define and import everything that it uses in the " +
  "snippet itself. Print what you want to see. Name data sets as inputs instead of opening files. If a snippet is " +
  "refused, the answer says why, and whether asking again makes sense."

const text = (description) => ({ type: "string", description })

const INPUT = {
  type: "object",
  properties: {
    code: text("The snippet."),
    title: text("What it is, in a few words, for the person who decides."),
    reason: text("Why it should run."),
    profile: text("The profile to judge and run it by, if not the usual one."),
    inputs: {
      type: "object",
      description: "Data sets by the name that the snippet uses for each.",
      additionalProperties: { type: "string" },
    },
  },
  required: ["code"],
  additionalProperties: false,
}

const OUTPUT = {
  type: "object",
  properties: {
    state: text("`succeeded`, `failed`, or why it did not run."),
    message: text("What happened."),
    stdout: text("What it printed."),
    stderr: text("What it printed on standard error."),
    result: { description: "What it left, as its profile says." },
  },
  required: ["state", "message", "stdout", "stderr"],
}

function flags(given, options) {
  const words = ["submit", "-", "--json", "--agent=opencode"]
  if (options.socket) words.push(`--socket=${options.socket}`)
  for (const flag of ["title", "reason", "profile"]) {
    if (given[flag]) words.push(`--${flag}=${given[flag]}`)
  }
  for (const [name, dataset] of Object.entries(given.inputs ?? {})) {
    if (!NAME.test(name) || !NAME.test(dataset)) {
      throw new Error(`inputs name data sets, as in {"sales": "sales"}; not ${JSON.stringify({ [name]: dataset })}`)
    }
    words.push(`--input=${name}=${dataset}`)
  }
  return words
}

/** Runs the command on the code. A call that opencode gives up is interrupted, which withdraws what is pending. */
function submit(program, words, code, signal) {
  return new Promise((done, failed) => {
    const child = spawn(program, words, { stdio: "pipe" })
    const told = { stdout: "", stderr: "" }
    for (const stream of ["stdout", "stderr"]) {
      child[stream].setEncoding("utf8").on("data", (part) => (told[stream] += part))
    }
    const stop = () => child.kill("SIGINT")
    signal?.addEventListener("abort", stop)
    if (signal?.aborted) stop()
    child.on("error", (why) => failed(new Error(`${program} cannot be started: ${why.message}`)))
    child.on("close", () => {
      signal?.removeEventListener("abort", stop)
      done(told)
    })
    // A command that ended early says why.
    child.stdin.on("error", () => {})
    child.stdin.end(code)
  })
}

/** What a model is told. */
function content(output, outcome) {
  const files = (outcome.run?.artifacts ?? []).map((file) => file.name)
  const parts = [`${output.state}: ${output.message}`]
  if (output.stdout) parts.push(`stdout:\n${output.stdout}`)
  if (output.stderr) parts.push(`stderr:\n${output.stderr}`)
  if (output.result != null) parts.push(`result:\n${JSON.stringify(output.result)}`)
  if (files.length) parts.push(`files: ${files.join(", ")}`)
  return parts.join("\n\n")
}

export default {
  id: "countersign",
  async setup(context) {
    const options = context.options ?? {}
    const execute = async (given, { signal } = {}) => {
      const words = flags(given, options)
      const told = await submit(options.program ?? "countersign", words, given.code, signal)
      if (!told.stdout) throw new Error(told.stderr.trim() || "there is no outcome")
      const outcome = JSON.parse(told.stdout)
      const { stdout = "", stderr = "", result } = outcome.run ?? {}
      const output = { state: outcome.state, message: outcome.message ?? "", stdout, stderr }
      if (result != null) output.result = result
      return { output, content: content(output, outcome), metadata: { id: outcome.id, state: outcome.state } }
    }
    await context.tool.transform((tools) =>
      tools.add({
        name: "run_python",
        description: DESCRIPTION,
        input: INPUT,
        output: OUTPUT,
        // The model calls it itself; a script of calls would wait for a person each time.
        options: { codemode: false },
        execute,
      }),
    )
  },
}
