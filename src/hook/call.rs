//! Tools and their arguments: which of them run commands, which run code.

use serde_json::Value;

use crate::model::TOOLS;

use super::shell::{self, Found};
use super::tables::is_interpreter;
use super::{Answer, unclear};

/// Tools of the agents that read, write or plan: what stands in their arguments is not run.
const HARMLESS: [&str; 45] = [
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "Glob",
    "Grep",
    "LS",
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "TodoRead",
    "Task",
    "Agent",
    "NotebookRead",
    "ExitPlanMode",
    "EnterPlanMode",
    "AskUserQuestion",
    "ToolSearch",
    "LSP",
    "BashOutput",
    "KillShell",
    "TaskOutput",
    "TaskStop",
    "apply_patch",
    "update_plan",
    "view_image",
    "web_search",
    "read_file",
    "write_file",
    "replace",
    "glob",
    "grep_search",
    "search_file_content",
    "list_directory",
    "read_many_files",
    "google_web_search",
    "web_fetch",
    "write_todos",
    "save_memory",
    "get_internal_docs",
    "ask_user",
    "enter_plan_mode",
    "exit_plan_mode",
    "update_topic",
    "complete_task",
];

/// Tools that run a command line.
const SHELLS: [&str; 13] = [
    "bash",
    "shell",
    "exec",
    "localshell",
    "containerexec",
    "shellcommand",
    "execcommand",
    "unifiedexec",
    "runshellcommand",
    "monitor",
    "terminal",
    "runterminalcmd",
    "powershell",
];

/// Names of tools of other servers that run code.
const RUNNING: [&str; 14] = [
    "executecode",
    "runcode",
    "execcode",
    "evalcode",
    "evaluatecode",
    "codeinterpreter",
    "codeexecution",
    "executecell",
    "runcell",
    "executenotebook",
    "runnotebook",
    "jupyter",
    "ipython",
    "pythonrepl",
];

const LOOKING: [&str; 12] = [
    "search", "get", "list", "read", "find", "fetch", "lookup", "describe", "lint", "format",
    "resolve", "query",
];

/// Fields that hold a command line, or the words of one.
const COMMANDS: [&str; 13] = [
    "command",
    "cmd",
    "commands",
    "cmdline",
    "command_line",
    "commandLine",
    "shell_command",
    "bash_command",
    "script",
    "input",
    "argv",
    "line",
    "run",
];

/// Fields that hold what is typed into a terminal.
const TYPED: [&str; 6] = ["chars", "keys", "text", "data", "stdin", "keystrokes"];

const PROGRAMS: [&str; 6] = ["program", "executable", "exe", "binary", "bin", "path"];
const ARGUMENTS: [&str; 4] = ["args", "arguments", "argv", "parameters"];

/// Fields that hold the arguments once more: an object, a list of them, or the JSON of one.
const NESTED: [&str; 14] = [
    "action",
    "arguments",
    "args",
    "params",
    "parameters",
    "input",
    "tool_input",
    "payload",
    "request",
    "options",
    "calls",
    "steps",
    "commands",
    "tasks",
];

/// How deep arguments may nest.
const DEPTH_MAX: usize = 8;

pub(super) fn judge(name: &str, input: &Value) -> Answer {
    if HARMLESS.contains(&name) || is_own(name) {
        return Answer::Silent;
    }
    let plain = normal(name);
    let tool = plain_tool(name);
    let empty = Value::Object(serde_json::Map::new());
    let input = if input.is_null() { &empty } else { input };
    if !input.is_object() {
        return unclear(format!("the arguments of `{}` are no object", short(name)));
    }
    // A command line can name another program as its shell.
    if let Some(program) = input["shell"].as_str() {
        let base = program.rsplit('/').next().unwrap_or(program);
        if is_interpreter(base) {
            return Answer::Python(short(base));
        }
        if !super::tables::SHELLS.contains(&base) {
            return unclear(format!("`{}` is no shell that is known", short(program)));
        }
    }
    if SHELLS.contains(&tool.as_str()) {
        return command(name, input, tool == "powershell");
    }
    if let Some(answer) = code(name, &plain, input) {
        return answer;
    }
    if plain == "notebookedit" {
        let runs = ["execute", "run", "run_cell"]
            .iter()
            .any(|f| input[*f] == Value::Bool(true));
        return if runs {
            Answer::Python("NotebookEdit".to_owned())
        } else {
            Answer::Silent
        };
    }
    // A tool that nobody knows: what looks like a command line is read like one.
    let runs = [
        "shell",
        "bash",
        "terminal",
        "command",
        "exec",
        "process",
        "ssh",
        "tmux",
        "sendkeys",
        "pty",
        "console",
        "writestdin",
    ];
    let sure = runs.iter().any(|word| plain.contains(word));
    let mut found = Worst::default();
    found.object(input, sure, 0);
    match found.0 {
        Some(Answer::Unclear(_)) if !sure => Answer::Silent,
        found => found.unwrap_or(Answer::Silent),
    }
}

/// The worst that was found: a Python, what nobody can tell, nothing.
#[derive(Default)]
struct Worst(Option<Answer>);

impl Worst {
    fn add(&mut self, answer: Answer) {
        let weight = |answer: &Answer| match answer {
            Answer::Silent => 0,
            Answer::Unclear(_) => 1,
            Answer::Python(_) => 2,
        };
        if self
            .0
            .as_ref()
            .is_none_or(|old| weight(old) < weight(&answer))
        {
            self.0 = Some(answer);
        }
    }

    /// Every field of the arguments that may hold a command. `types`: the tool types into a terminal or runs what it is given.
    fn object(&mut self, input: &Value, types: bool, depth: usize) {
        if depth > DEPTH_MAX {
            return self.add(unclear("the arguments nest too deeply"));
        }
        let Some(fields) = input.as_object() else {
            return;
        };
        let arguments = ARGUMENTS.iter().find_map(|f| fields.get(*f));
        for (field, value) in fields {
            let field = field.as_str();
            if COMMANDS.contains(&field) && !ARGUMENTS.contains(&field)
                || field == "argv" && fields.len() == 1
            {
                self.command(value, arguments);
            } else if PROGRAMS.contains(&field) && (arguments.is_some() || field != "path") {
                self.program(value, arguments);
            } else if types && TYPED.contains(&field) {
                self.typed(value);
            } else if field == "argv" {
                self.command(value, None);
            }
            if NESTED.contains(&field) {
                self.nested(value, types, depth);
            }
        }
    }

    fn nested(&mut self, value: &Value, types: bool, depth: usize) {
        match value {
            Value::Object(_) => self.object(value, types, depth + 1),
            Value::Array(list) => {
                for value in list.iter().filter(|v| v.is_object()) {
                    self.object(value, types, depth + 1);
                }
            }
            Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                if let Ok(value) = crate::model::json::read(text) {
                    self.nested(&value, types, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// A command line, perhaps with arguments beside it.
    fn command(&mut self, value: &Value, arguments: Option<&Value>) {
        match (value, arguments) {
            (Value::String(text), Some(Value::Array(list))) => {
                let words = list.iter().filter_map(Value::as_str);
                match shlex::try_join(words) {
                    Ok(words) => self.add(shell::judge(&format!("{text} {words}"))),
                    Err(_) => self.add(unclear("the arguments have a null byte")),
                }
            }
            (Value::String(text), Some(Value::String(more))) => {
                self.add(shell::judge(&format!("{text} {more}")));
            }
            (Value::String(text), _) => self.add(shell::judge(text)),
            (Value::Array(argv), _) => self.add(arguments_of(argv)),
            _ => {}
        }
    }

    /// A program, with its arguments in another field.
    fn program(&mut self, value: &Value, arguments: Option<&Value>) {
        let Some(program) = value.as_str() else {
            return;
        };
        match arguments {
            Some(Value::Array(list)) => {
                let words = std::iter::once(value).chain(list).cloned();
                self.add(arguments_of(&words.collect::<Vec<_>>()));
            }
            Some(Value::String(text)) => self.add(shell::judge(&format!("{program} {text}"))),
            _ => self.add(shell::judge_words(&[program])),
        }
    }

    fn typed(&mut self, value: &Value) {
        let keys: Vec<&str> = match value {
            Value::String(text) => vec![text],
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        self.add(shell::judge_typed(&keys));
    }
}

/// `mcp__countersign__run_python`, and with one line each in Gemini CLI. A server of that name has no other tools.
fn is_own(name: &str) -> bool {
    let rest = name
        .strip_prefix("mcp__countersign__")
        .or_else(|| name.strip_prefix("mcp_countersign_"));
    rest.is_some_and(|tool| TOOLS.contains(&tool))
}

/// Lower case without what joins words: `mcp__ide__executeCode` and `execute-code` alike.
fn normal(name: &str) -> String {
    let kept = name.chars().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

/// The same of the tool without its server.
fn plain_tool(name: &str) -> String {
    normal(
        name.rsplit("__")
            .next()
            .unwrap_or(name)
            .rsplit(['.', '/'])
            .next()
            .unwrap_or(name),
    )
}

fn code(name: &str, plain: &str, input: &Value) -> Option<Answer> {
    let language = ["language", "lang", "runtime", "kernel", "interpreter"]
        .iter()
        .find_map(|field| input[*field].as_str())
        .map(str::to_lowercase);
    let has_code = ["code", "source", "script", "cell", "snippet"]
        .iter()
        .any(|f| input[*f].is_string());
    match language.as_deref() {
        Some(l) if has_code && (l.starts_with("py") || l.contains("python")) => {
            return Some(Answer::Python(short(name)));
        }
        Some("bash" | "sh" | "shell" | "zsh") => {
            let text = ["code", "script", "source"]
                .iter()
                .find_map(|f| text_of(input, f));
            return Some(
                text.map_or_else(|| unclear("a shell without its text"), |t| shell::judge(&t)),
            );
        }
        Some("javascript" | "js" | "typescript" | "ts" | "sql" | "r" | "julia" | "go" | "rust") => {
            return None;
        }
        _ => {}
    }
    let runs = RUNNING.iter().any(|word| plain.contains(word)) && !plain.contains("browser");
    let does = ["run", "exec", "eval", "invoke", "call"]
        .iter()
        .any(|word| plain.contains(word));
    let tool = plain_tool(name);
    let looks = LOOKING.iter().any(|word| tool.starts_with(word)) && !does;
    let python = plain.contains("python") && !looks;
    (runs && !looks || python).then(|| Answer::Python(short(name)))
}

fn command(name: &str, input: &Value, powershell: bool) -> Answer {
    let mut found = Worst::default();
    let action = &input["action"];
    for object in [input, action] {
        for field in ["command", "cmd", "cmdline", "input", "argv"] {
            match &object[field] {
                Value::Null | Value::Array(_) | Value::Object(_) => {}
                Value::String(text) if powershell => found.add(in_powershell(text)),
                Value::String(_) => {}
                _ => found.add(unclear(format!(
                    "`{field}` of `{}` is no text",
                    short(name)
                ))),
            }
        }
    }
    if !powershell {
        found.object(input, true, 0);
    }
    // Only a fresh start of the shell comes without a command.
    let restarts = input["restart"] == Value::Bool(true);
    match found.0 {
        Some(answer) => answer,
        None if restarts => Answer::Silent,
        None => unclear(format!("`{}` has no `command`", short(name))),
    }
}

/// A command as a list of its words.
fn arguments_of(argv: &[Value]) -> Answer {
    let words: Option<Vec<&str>> = argv.iter().map(Value::as_str).collect();
    match words {
        Some(words) if !words.is_empty() => shell::judge_words(&words),
        _ => unclear("the command is no list of words"),
    }
}

/// Another language than the shell's: every word counts.
fn in_powershell(text: &str) -> Answer {
    let lower = text.to_lowercase();
    let mut found = Found::new(lower.len());
    if super::tables::names_python(&lower, &mut found)
        || lower.split_whitespace().any(|w| w.ends_with(".py"))
    {
        return Answer::Python("powershell".to_owned());
    }
    let hidden = ["iex", "invoke-expression", "-enc", "frombase64", "`", "&"];
    match hidden.iter().find(|word| lower.contains(**word)) {
        Some(word) => unclear(format!("`{word}` hides what PowerShell runs")),
        None => Answer::Silent,
    }
}

fn text_of(input: &Value, field: &str) -> Option<String> {
    input[field].as_str().map(str::to_owned)
}

/// A name for a message: the agent wrote it, so it is short.
pub(super) fn short(name: &str) -> String {
    match name.char_indices().nth(40) {
        None => name.to_owned(),
        Some((at, _)) => format!("{}…", &name[..at]),
    }
}
