//! `countersign check`: static verdicts; executes nothing.

mod pool;
mod sarif;
mod text;
mod walk;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::Globals;
use super::out::{print, print_json};
use super::policy::policies;
use crate::analysis::{Analyser, rules};
use crate::error::Failure;
use crate::model::nearest;
use crate::model::{Finding, Verdict, VerdictKind};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files, folders (walked for *.py), or - for standard input
    #[arg(value_name = "PATH", required_unless_present_any = ["explain", "list_rules"])]
    paths: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Fail on flagged snippets too
    #[arg(long)]
    strict: bool,
    /// Explain one rule
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
    /// List every rule
    #[arg(long)]
    list_rules: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Jsonl,
    /// SARIF 2.1.0
    Sarif,
}

/// One file and its verdict.
struct Checked {
    path: String,
    code: Vec<u8>,
    verdict: Verdict,
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    if let Some(code) = &args.explain {
        return explain(code);
    }
    if args.list_rules {
        return list(args.format);
    }
    let policies = policies(globals)?;
    let profile = globals.profile.as_deref().unwrap_or("analysis");
    if !policies.iter().any(|p| p.name == profile) {
        let names: Vec<&str> = policies.iter().map(|p| p.name.as_str()).collect();
        let near = nearest(profile, names.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(Failure::usage(format!(
            "no profile `{}`{near} (profiles: {})",
            profile,
            names.join(", ")
        )));
    }
    let files = walk::files(&args.paths)?;
    let mut worst = VerdictKind::Clear;
    let mut all = Vec::new();
    let mut results = Vec::new();
    for checked in pool::check_all(&files, &policies, profile) {
        worst = worst.max(checked.verdict.verdict);
        match args.format {
            Format::Text => print(|out| text::write(&checked, out))?,
            Format::Jsonl => write_json(&object(&checked)?)?,
            Format::Json => all.push(object(&checked)?),
            Format::Sarif => results.extend(sarif::results(&checked)),
        }
    }
    if args.format == Format::Json {
        write_json(&serde_json::Value::Array(all))?;
    }
    if args.format == Format::Sarif {
        write_json(&sarif::log(results))?;
    }
    let limit = if args.strict {
        VerdictKind::Clear
    } else {
        VerdictKind::Flagged
    };
    Ok(u8::from(worst > limit))
}

fn check(path: &Path, analyser: &mut Analyser, profile: &str) -> Checked {
    let name = path.to_string_lossy().into_owned();
    let read = if name == "-" {
        let mut code = Vec::new();
        std::io::stdin().read_to_end(&mut code).map(|_| code)
    } else {
        std::fs::read(path)
    };
    match read {
        Ok(code) => Checked {
            verdict: analyser.verdict(&code, profile),
            path: name,
            code,
        },
        Err(error) => {
            // Analyse an empty snippet, then mark it: a file that cannot be read must not pass.
            let mut verdict = analyser.verdict(b"", profile);
            verdict.verdict = VerdictKind::Unanalyzable;
            verdict.findings = vec![unreadable(&error)];
            Checked {
                verdict,
                path: name,
                code: Vec::new(),
            }
        }
    }
}

fn unreadable(error: &std::io::Error) -> Finding {
    let rule = &rules::ENCODING;
    Finding {
        rule: rule.code.to_owned(),
        name: rule.name.to_owned(),
        severity: rule.severity,
        action: rule.default_action(),
        message: format!("cannot be read: {error}"),
        hint: "check the path and its permissions".to_owned(),
        cwe: Vec::new(),
        line: 1,
        column: 1,
        end_line: 1,
        end_column: 1,
        capability: None,
    }
}

fn object(checked: &Checked) -> Result<serde_json::Value, Failure> {
    let fault = |error: serde_json::Error| Failure::general(error.to_string());
    let mut object = serde_json::Map::new();
    object.insert("path".to_owned(), checked.path.clone().into());
    if let serde_json::Value::Object(fields) =
        serde_json::to_value(&checked.verdict).map_err(fault)?
    {
        object.extend(fields);
    }
    Ok(serde_json::Value::Object(object))
}

fn write_json(value: &serde_json::Value) -> Result<(), Failure> {
    print_json(&value.to_string())
}

fn explain(code: &str) -> Result<u8, Failure> {
    let Some(rule) = rules::find(code) else {
        let near = nearest(&code.to_ascii_uppercase(), rules::all().map(|r| r.code))
            .map_or_else(String::new, |near| format!("; did you mean {near}?"));
        return Err(Failure::usage(format!("no rule `{code}`{near}")));
    };
    let cwe: Vec<String> = rule.cwe.iter().map(|n| format!("CWE-{n}")).collect();
    let text = format!(
        "{} ({})\n\n{}\n\n  severity    {}\n  by default  {}\n  capability  {}\n  weakness    {}\n  example     {}\n  instead     {}\n",
        rule.code,
        rule.name,
        rule.message,
        rule.severity,
        rule.default_action().as_str(),
        rule.capability.map_or("-", |c| c.as_str()),
        if cwe.is_empty() {
            "-".to_owned()
        } else {
            cwe.join(", ")
        },
        rule.example.replace('\n', "\n              "),
        rule.hint,
    );
    print(|out| out.write_all(text.as_bytes()))?;
    Ok(0)
}

fn list(format: Format) -> Result<u8, Failure> {
    let objects = rules::all().map(|r| {
        serde_json::json!({
            "code": r.code,
            "name": r.name,
            "severity": r.severity,
            "action": r.default_action(),
            "capability": r.capability,
            "cwe": r.cwe,
            "message": r.message,
            "hint": r.hint,
            "example": r.example,
        })
    });
    match format {
        Format::Text => print(|out| {
            for r in rules::all() {
                writeln!(
                    out,
                    "{:<11} {:<26} {:<9} {:<6} {}",
                    r.code,
                    r.name,
                    r.severity,
                    r.default_action().as_str(),
                    r.message
                )?;
            }
            Ok(())
        })?,
        Format::Json => write_json(&objects.collect())?,
        Format::Sarif => write_json(&sarif::log(Vec::new()))?,
        Format::Jsonl => {
            for object in objects {
                write_json(&object)?;
            }
        }
    }
    Ok(0)
}
