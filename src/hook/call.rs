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

const COMMANDS: [&str; 9] = [
    "command",
    "cmd",
    "commands",
    "shell_command",
    "bash_command",
    "script",
    "input",
    "chars",
    "argv",
];

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
    if tool == "writestdin" {
        return text_of(input, "chars").map_or(Answer::Silent, |t| shell::judge(&t));
    }
    // A tool that nobody knows: what looks like a command line is read like one.
    let runs = [
        "shell", "bash", "terminal", "command", "exec", "process", "ssh",
    ];
    let sure = runs.iter().any(|word| plain.contains(word));
    let mut found = Answer::Silent;
    for field in COMMANDS {
        let answer = match &input[field] {
            Value::String(text) => shell::judge(text),
            Value::Array(argv) => arguments(argv),
            _ => continue,
        };
        match answer {
            Answer::Python(_) => return answer,
            Answer::Unclear(_) if sure => found = answer,
            _ => {}
        }
    }
    found
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
    let mut seen = None;
    let action = &input["action"];
    for object in [input, action] {
        for field in ["command", "cmd", "input", "argv"] {
            let answer = match &object[field] {
                Value::Null => continue,
                Value::String(text) if powershell => in_powershell(text),
                Value::String(text) => shell::judge(text),
                Value::Array(argv) => arguments(argv),
                _ => unclear(format!("`{field}` of `{}` is no text", short(name))),
            };
            match (&seen, &answer) {
                (_, Answer::Python(_)) => return answer,
                (Some(Answer::Unclear(_)), _) => {}
                _ => seen = Some(answer),
            }
        }
    }
    // Only a fresh start of the shell comes without a command.
    let restarts = input["restart"] == Value::Bool(true);
    match seen {
        Some(answer) => answer,
        None if restarts => Answer::Silent,
        None => unclear(format!("`{}` has no `command`", short(name))),
    }
}

/// A command as a list of its words.
fn arguments(argv: &[Value]) -> Answer {
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
