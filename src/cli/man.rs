//! `countersign man`: the man page, one page for all commands, on standard output.

use std::io::{self, Write};

use clap_mangen::Man;

use crate::error::Failure;

use super::out::print_data;

/// Runs the command and returns the exit code.
pub fn run() -> Result<u8, Failure> {
    let mut page = Vec::new();
    render(&mut page).map_err(|e| Failure::general(format!("cannot write the man page: {e}")))?;
    print_data(&page)?;
    Ok(0)
}

fn render(page: &mut Vec<u8>) -> io::Result<()> {
    let mut tree = super::tree().disable_help_subcommand(true);
    tree.build();
    let mut parts = Vec::new();
    let main = Man::new(tree.clone());
    main.render_title(&mut parts)?;
    main.render_name_section(&mut parts)?;
    main.render_synopsis_section(&mut parts)?;
    main.render_description_section(&mut parts)?;
    main.render_options_section(&mut parts)?;
    writeln!(parts, ".SH COMMANDS")?;
    for command in tree.get_subcommands().filter(|c| !c.is_hide_set()) {
        section(&mut parts, command, "")?;
    }
    environment(&mut parts, &tree)?;
    // Every part begins with the same two lines of setup; one pair is enough.
    let prepares = |line: &str| line.starts_with(".ie ") || line.starts_with(".el ");
    let text = String::from_utf8_lossy(&parts);
    let kept = text.lines().enumerate();
    for (_, line) in kept.filter(|(n, line)| *n < 2 || !prepares(line)) {
        writeln!(page, "{line}")?;
    }
    Ok(())
}

/// One command as a subsection: description, synopsis, its own options; then its subcommands.
/// `above` is what precedes its name on the command line.
fn section(page: &mut Vec<u8>, command: &clap::Command, above: &str) -> io::Result<()> {
    let name = format!("{above}{}", command.get_name());
    // The global options and `--help` appear once, at the top.
    let own = command.clone().mut_args(|arg| {
        let everywhere = arg.is_global_set() || arg.get_id() == "help";
        arg.hide(everywhere)
    });
    let man = Man::new(own);
    writeln!(page, ".SS {name}")?;
    let mut parts = Vec::new();
    man.render_synopsis_section(&mut parts)?;
    writeln!(parts, ".PP")?;
    man.render_description_section(&mut parts)?;
    man.render_options_section(&mut parts)?;
    let text = String::from_utf8_lossy(&parts);
    for line in text.lines().filter(|line| !line.starts_with(".SH ")) {
        writeln!(page, "{line}")?;
    }
    if let Some(more) = command.get_after_help() {
        writeln!(page, ".PP\n{}", more.to_string().replace('-', "\\-"))?;
    }
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        section(page, below, &format!("{name} "))?;
    }
    Ok(())
}

/// The environment variable of each global option.
fn environment(page: &mut Vec<u8>, tree: &clap::Command) -> io::Result<()> {
    writeln!(page, ".SH ENVIRONMENT")?;
    for arg in tree.get_arguments() {
        if let (Some(variable), Some(flag)) = (arg.get_env(), arg.get_long()) {
            let variable = variable.to_string_lossy();
            let flag = flag.replace('-', "\\-");
            writeln!(page, ".TP\n\\fB{variable}\\fR\nthe same as \\-\\-{flag}")?;
        }
    }
    writeln!(page, ".TP\n\\fBCOUNTERSIGN_ENV\\fR")?;
    writeln!(page, "NAME reads config.NAME.toml over config.toml")?;
    writeln!(
        page,
        ".PP\nEvery key of config.toml has a variable: COUNTERSIGN_KEY, in a table COUNTERSIGN_TABLE_KEY.\n\
         An empty variable counts as unset; a flag outranks it; an unknown one is an error."
    )
}
