//! Texts in other languages than the shell's, as far as they can start a program: of awk, Perl, editors, debuggers, databases.
//!
//! They are not parsed. What starts a program in the language is looked for; the command behind it is read where the language
//! takes it as it stands, and is unclear elsewhere.

use super::shell::Scan;
use super::tables;
use super::words::HIDDEN;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Of a shell on another machine, which reads it as it stands.
    Shell,
    Sed,
    Awk,
    Perl,
    Ruby,
    Node,
    Php,
    Lua,
    Tcl,
    Sql,
    Gdb,
    Lldb,
    Vim,
    Lisp,
    R,
    Julia,
    Octave,
    Gnuplot,
    /// `less`, `ed`, `sftp`: a line that begins with `!` is a command.
    Lines,
    Make,
}

/// What starts a program: words that a call or a text follows, and parts of text.
struct Speech {
    calls: &'static str,
    parts: &'static [&'static str],
    /// What runs Python without a program.
    python: &'static [&'static str],
}

const fn speech(
    calls: &'static str,
    parts: &'static [&'static str],
    python: &'static [&'static str],
) -> Speech {
    Speech {
        calls,
        parts,
        python,
    }
}

const PERL: Speech = speech(
    "system exec qx popen popen2 popen3 open3 open2 fork syscall eval",
    &[
        "`", "-|", "|-", "(?{", "(??{", "@{[", "${\\", "IPC::", "CORE::", "&{", "system {",
        "exec {", "|\"", "\"|", "| \"", "'|", "|'", "/ee", "}ee", "|ee", ",ee",
    ],
    &["Inline::Python", "Inline Python"],
);
const RUBY: Speech = speech(
    "system exec spawn popen popen2 popen3 popen2e capture2 capture3 capture2e pipeline eval instance_eval send public_send __send__ syscall sh",
    &["`", "%x", "Open3", "PTY", "\"|", "'|"],
    &["pycall", "PyCall"],
);
const NODE: Speech = speech(
    "execSync execFile execFileSync spawn spawnSync fork execa eval Function",
    &[
        "child_process",
        "Deno.Command",
        "Deno.run",
        "Bun.spawn",
        "Bun.$",
        "process.binding",
        "_linkedBinding",
        "shelljs",
        "node-pty",
        "atob(",
        "mainModule",
    ],
    &["pyodide", "pymport", "pythonia", "python-shell"],
);
const PHP: Speech = speech(
    "exec shell_exec system passthru popen proc_open pcntl_exec eval assert create_function",
    &["`"],
    &[],
);
const LUA: Speech = speech(
    "execute popen load loadstring dofile system cmd jobstart spawn termopen",
    &["os[", "io[", "_G[", "vim.cmd", "vim.system"],
    &["py3eval", "pyeval", "py3file"],
);
const TCL: Speech = speech("exec spawn system eval", &["\"|", "{|", "open |"], &[]);
const LISP: Speech = speech(
    "",
    &[
        "shell-command",
        "call-process",
        "start-process",
        "process-file",
        "process-lines",
        "make-process",
        "compile",
        "eshell",
        "run-program",
        "inferior-shell",
        "plug-in",
        "(eval",
        "(read",
        "macro:",
        "sun.star.script",
    ],
    &["python"],
);
const R: Speech = speech(
    "system system2 shell pipe",
    &["processx", "callr", "eval(parse"],
    &[
        "reticulate",
        "py_run",
        "py_eval",
        "source_python",
        "rPython",
        "PythonInR",
    ],
);
const JULIA: Speech = speech(
    "run pipeline Cmd eval include_string",
    &["`"],
    &[
        "PyCall",
        "PythonCall",
        "pyimport",
        "CondaPkg",
        "Conda",
        "py\"",
        "@py",
    ],
);
const OCTAVE: Speech = speech(
    "system shell_cmd dos unix popen popen2 exec eval evalc feval str2func",
    &["!"],
    &["python", "pyrun", "pyenv", "py."],
);

impl Language {
    /// Whether a file `*.py` in this language's place is run as Python.
    pub(super) fn takes_python(self) -> bool {
        matches!(self, Self::Gdb | Self::Lldb | Self::Vim | Self::Shell)
    }

    /// Whether a pipe of which nobody knows what comes through it may hold data as well.
    pub(super) fn is_mostly_data(self) -> bool {
        matches!(self, Self::Sql | Self::Gnuplot)
    }

    fn speech(self) -> Option<&'static Speech> {
        Some(match self {
            Self::Perl => &PERL,
            Self::Ruby => &RUBY,
            Self::Node => &NODE,
            Self::Php => &PHP,
            Self::Lua => &LUA,
            Self::Tcl => &TCL,
            Self::Lisp => &LISP,
            Self::R => &R,
            Self::Julia => &JULIA,
            Self::Octave => &OCTAVE,
            _ => return None,
        })
    }
}

impl Scan<'_, '_> {
    pub(super) fn code(&mut self, language: Language, text: &str) {
        // Once for the look at it and once for the commands in it.
        self.found().step(2 * text.len());
        if self.is_over() || !self.enter() {
            return;
        }
        let runs = language.speech().is_some() || language == Language::Awk;
        if runs && text.trim().chars().all(|c| c == HIDDEN) && text.contains(HIDDEN) {
            self.unclear("a program's text is not written out");
        }
        match language {
            Language::Shell => self.text_of_commands(text),
            Language::Sed => self.sed(text),
            Language::Awk => self.awk(text),
            Language::Make => self.unclear("a makefile on standard input is not read"),
            Language::Sql => text.lines().for_each(|line| self.sql(line)),
            Language::Gdb | Language::Lldb => text.lines().for_each(|line| self.debugger(line)),
            Language::Vim | Language::Lines | Language::Gnuplot => {
                text.split(['\n', '|', ';'])
                    .for_each(|part| self.editor(language, part));
            }
            Language::Perl if is_substitution(text) => {}
            _ => {
                if let Some(speech) = language.speech() {
                    self.speech(speech, text);
                }
            }
        }
        self.leave();
    }

    fn speech(&mut self, speech: &Speech, text: &str) {
        if speech.python.iter().any(|part| text.contains(part)) {
            return self.python("a program's text");
        }
        let starts = speech.parts.iter().any(|part| text.contains(part))
            || calls(text, speech.calls)
            || loads_hidden(text);
        if starts {
            self.starting(text);
        }
    }

    /// A text that starts a program: which one, its strings say at best.
    fn starting(&mut self, text: &str) {
        if tables::names_python(text, self.found()) {
            self.python("a program's text");
        } else {
            self.unclear("a program's text starts another program");
        }
    }

    fn awk(&mut self, text: &str) {
        let plain = without_strings(text);
        let bytes = plain.as_bytes();
        let pipe = |at: usize| {
            bytes[at] == b'|'
                && bytes.get(at + 1) != Some(&b'|')
                && (at == 0 || bytes[at - 1] != b'|')
        };
        let pipes = (0..bytes.len()).any(pipe);
        // What the strings leave may itself be cut wrongly: a call counts wherever it stands.
        let system = calls(text, "system") && text.contains("system(") || calls(&plain, "system");
        if pipes || system || plain.contains("@load") || plain.contains("@include") {
            self.starting(text);
        }
    }

    /// Lines of the shells of databases.
    fn sql(&mut self, line: &str) {
        let line = line.trim();
        let lower = line.to_lowercase();
        let word = lower.split_whitespace().next().unwrap_or("");
        let rest = &line[line.find(char::is_whitespace).unwrap_or(line.len())..];
        match word {
            _ if word.len() > 2
                && [".shell", ".system"]
                    .iter()
                    .any(|full| full.starts_with(word)) =>
            {
                self.text_of_commands(rest);
            }
            "system" | "pager" | "\\p" => self.text_of_commands(rest),
            _ if word.starts_with('.') => {
                if rest.contains(" -e") || rest.contains(" -x") {
                    self.unclear("an editor that a database starts is not read");
                }
                if let Some(at) = rest.find('|') {
                    self.text_of_commands(rest[at + 1..].trim_matches(['"', '\'']));
                }
            }
            _ => {}
        }
        if let Some(at) = line.find("\\!") {
            self.text_of_commands(&line[at + 2..]);
        }
        let backslash = ["\\o", "\\g", "\\w", "\\gx", "\\out", "\\write"];
        if let Some(at) = line.find('|') {
            let before = line[..at].trim_end();
            if backslash.iter().any(|b| before.ends_with(b)) {
                self.text_of_commands(&line[at + 1..]);
            }
        }
        let program = lower.contains("program") && (lower.contains("copy")) && line.contains('\'');
        let reads = lower.contains("shellfs")
            || lower.contains("edit(")
            || lower.contains("executable(")
            || lower.contains("sys_exec")
            || lower.contains("plpython")
            || lower.contains("|'");
        if program || reads || line.starts_with("\\set") && line.contains('`') {
            self.starting(line);
        }
    }

    fn debugger(&mut self, line: &str) {
        let line = line.trim_start();
        let end = line
            .find(|c: char| !c.is_ascii_alphabetic() && c != '-')
            .unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        let short = |full: &str, least: usize| word.len() >= least && full.starts_with(word);
        if short("python-interactive", 2) || word == "py" || word == "pi" || short("script", 4) {
            return self.python("a debugger's text");
        }
        if line.starts_with(['!', '|']) {
            self.text_of_commands(&line[1..]);
        } else if short("shell", 2) || short("make", 3) || short("pipe", 3) {
            self.text_of_commands(rest);
        } else if short("source", 2)
            || word == "command"
            || word == "com"
            || short("platform", 4)
            || word == "eval"
        {
            if tables::is_file_of_python(rest.trim()) || rest.contains("script") {
                return self.python("a debugger's text");
            }
            if let Some((_, text)) = rest.split_once("shell") {
                self.text_of_commands(text);
            }
        } else if word == "set" && rest.contains("exec-wrapper") {
            self.starting(line);
        }
        if word == "eval" || word == "define" && line.contains(HIDDEN) {
            self.unclear("a debugger's `eval` is not read");
        }
    }

    /// A part of a line for an editor or a pager.
    fn editor(&mut self, language: Language, part: &str) {
        let part = part.trim_start();
        if language != Language::Vim {
            if let Some(text) = part.strip_prefix(['!', '|']) {
                self.text_of_commands(text);
            }
            if language == Language::Gnuplot
                && (calls(part, "system")
                    || part.contains(['`', '!'])
                    || part.contains("'<")
                    || part.contains("\"<"))
            {
                self.starting(part);
            }
            return;
        }
        let range = |c: char| c.is_ascii_digit() || " :%.,$'<>+-".contains(c);
        let part = part.trim_start_matches(range);
        let word = part
            .find(|c: char| !c.is_ascii_alphanumeric())
            .map_or(part, |end| &part[..end]);
        let python = [
            "pyx", "py3", "py", "python", "python3", "pyxdo", "pydo", "py3do", "pyfile", "py3file",
            "pyxfile", "pythonx", "pyxf", "pyf", "py3f",
        ];
        let evaluated = ["py3eval(", "pyeval(", "pyxeval("];
        if python.contains(&word) || evaluated.iter().any(|e| part.contains(e)) {
            return self.python("an editor's text");
        }
        let mut before = ' ';
        for (at, c) in part.char_indices() {
            // `q!` is an option of the command, `r !ls` is a command.
            if c == '!'
                && (at == 0 || before.is_whitespace() || "\"':%.$".contains(before))
                && !part[at..].starts_with("!=")
            {
                return self.text_of_commands(part[at + 1..].trim_end_matches(['"', '\'']));
            }
            before = c;
        }
        let shell = [
            "terminal", "term", "ter", "te", "perl", "perldo", "ruby", "rubydo", "tcl", "mz",
            "source", "so", "make", "mak",
        ];
        let starts = calls(
            part,
            "system systemlist job_start jobstart term_start termopen libcall execute os.execute io.popen",
        );
        if word == "lua" || word == "luado" {
            self.speech(&LUA, part);
        } else if shell.contains(&word) || starts {
            let file = part.split_whitespace().nth(1).unwrap_or("");
            if ["source", "so"].contains(&word) && !tables::is_file_of_python(file)
                || ["make", "mak"].contains(&word)
            {
                return;
            }
            self.starting(part);
        }
    }
}

/// Whether one of these words is called: a bracket, a quote or a variable follows it.
fn calls(text: &str, words: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    while let Some(from) = text[at..].find(part).map(|found| at + found) {
        let end = text[from..]
            .find(|c| !part(c))
            .map_or(text.len(), |e| from + e);
        at = end;
        let word = &text[from..end];
        if !tables::is_in(words, word) {
            continue;
        }
        let rest = text[end..].trim_start();
        let called = rest.starts_with(|c: char| "(\"'`$@[%<".contains(c) || c == HIDDEN);
        let name = text[..from].ends_with(['$', '@', '%']);
        // `qx/ls/`, `system "ls"`, `exec ls`: a bare word follows only what takes one.
        let bare = ["qx", "exec", "spawn", "system"].contains(&word)
            && !rest.is_empty()
            && !rest.starts_with([';', ',', ')', '=']);
        if (called || bare) && !name {
            return true;
        }
    }
    false
}

/// `require(x)` and `import(x)`, where the name is no plain text.
fn loads_hidden(text: &str) -> bool {
    ["require(", "import("].iter().any(|call| {
        text.split(call).skip(1).any(|rest| {
            let rest = rest.trim_start();
            let Some(quote) = rest.chars().next().filter(|c| "\"'`".contains(*c)) else {
                return true;
            };
            let mut parts = rest[1..].splitn(2, quote);
            let name = parts.next().unwrap_or("");
            let behind = parts.next().unwrap_or("").trim_start();
            name.contains(['\\', '$', HIDDEN]) || !behind.starts_with(')')
        })
    })
}

/// awk's text without its strings and regular expressions.
fn without_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    let mut last = '{';
    while let Some(c) = rest.next() {
        let regex = c == '/' && "(,~!{};&|\n".contains(last);
        if c == '"' || regex {
            while let Some(inner) = rest.next() {
                match inner {
                    '\\' => drop(rest.next()),
                    inner if inner == c => break,
                    _ => {}
                }
            }
            out.push(' ');
            last = 'a';
            continue;
        }
        if c == '#' {
            for inner in rest.by_ref() {
                if inner == '\n' {
                    break;
                }
            }
            out.push('\n');
            last = '\n';
            continue;
        }
        out.push(c);
        if !c.is_whitespace() || c == '\n' {
            last = c;
        }
    }
    out
}

/// Whether all of a text of Perl is `s/…/…/`, `y/…/…/` or `tr/…/…/`, none of which is evaluated.
fn is_substitution(text: &str) -> bool {
    let mut rest = text.trim();
    if text.contains("(?{") || text.contains("(??{") || text.contains("@{") || text.contains("${") {
        return false;
    }
    while !rest.is_empty() {
        let Some(begun) = ["tr", "s", "y"]
            .iter()
            .find_map(|name| rest.strip_prefix(name))
        else {
            return false;
        };
        let Some(delimiter) = begun
            .chars()
            .next()
            .filter(|c| c.is_ascii_punctuation() && *c != '_')
        else {
            return false;
        };
        if "({[<".contains(delimiter) {
            return false;
        }
        let Some((_, behind)) = super::sed::parts(&begun[1..], delimiter, 2) else {
            return false;
        };
        let end = behind
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(behind.len());
        if behind[..end].contains('e') {
            return false;
        }
        let next = behind[end..].trim_start();
        rest = match next.strip_prefix(';') {
            Some(next) => next.trim_start(),
            None if next.is_empty() => "",
            None => return false,
        };
    }
    true
}
