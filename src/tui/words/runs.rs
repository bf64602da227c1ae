//! The sentences about runs, their files and their data.

use crate::model::{Tier, Withheld};

use super::{count, number};

pub use crate::model::REDACTED;
/// Values that are.
pub const REDACTED_WORD: &str = "redacted";
/// Files that were.
pub const THROWN_AWAY: &str = "thrown away";
/// Before what of a run its agent does not get.
const WITHHELD: &str = "▲";
pub const PRIVATE_SCOPE: &str = "a value of the scope `private`";
pub const PRINTED_SO: &str = "no private data is given, so the code wrote it";
pub const MASKED: &str = "every value is masked: the data is private";
pub const FAR: &str = "far from the others";
pub const NO_FILES: &str = "no file of a run is here";
pub const LEFT_NO_FILE: &str = "this run left no file";
/// What `DATA_WRITE` writes to: WRITES tells the files.
pub const IN_MEMORY: &str = "in memory, to ";
pub const NO_CLIPBOARD: &str =
    "this terminal takes no copies; `countersign audit show` prints code and output";
pub const DECODING: &str = "being read";

/// `3.1`: seconds with one decimal.
pub fn cpu_seconds(ms: u64) -> String {
    format!("{}.{}", number(ms / 1000), ms % 1000 / 100)
}

/// Mebibytes; what is less than one of them and not zero counts as one.
pub fn mebibytes(kib: u64) -> String {
    number(kib.div_ceil(1024))
}

/// `12 of 200 KB`: how much of a number of bytes is used, in the largest unit that suits the limit.
pub fn bytes_of(used: u64, limit: u64) -> String {
    let (unit, name) = match limit {
        10_000_000.. => (1_000_000, "MB"),
        10_000.. => (1_000, "KB"),
        _ => (1, "bytes"),
    };
    let (used, limit) = (number(used.div_ceil(unit)), number(limit / unit));
    format!("{used} of {limit} {name}")
}

/// `why`: what each of them stands for.
pub fn redacted(times: usize, why: &str) -> String {
    let times = match times {
        1 => "once".to_owned(),
        more => format!("{} times", number(more as u64)),
    };
    format!("{REDACTED} stands {times} in what the agent gets: {why}")
}

/// After it, beside its state and in its row: the longest form first.
pub fn withheld(of: Withheld) -> Vec<String> {
    let Withheld { values, files } = of;
    let mut long = Vec::new();
    let mut short = Vec::new();
    if values > 0 {
        long.push(format!("{} {REDACTED_WORD}", number(values as u64)));
        short.push(REDACTED_WORD);
    }
    if files > 0 {
        long.push(format!("{} {THROWN_AWAY}", count(files as usize, "file")));
        short.push(THROWN_AWAY);
    }
    let mark = |said: &str| format!("{WITHHELD} {said}");
    let mut forms = vec![mark(&long.join(", ")), mark(&short.join(", "))];
    forms.extend(short.first().map(|first| mark(first)));
    forms
}

/// Before the run: `columns` of which most values are rare.
pub fn all_redacted(columns: &str) -> String {
    format!("expect {REDACTED} for {columns}")
}

/// What is redacted of private data sets. `rows`: from how many rows on a value is not.
pub fn few_redacted(names: &str, sums: bool, rows: u32) -> String {
    let what = if sums { "values and sums" } else { "values" };
    format!("redacted of {names}: {what} of under {rows} rows")
}

/// What becomes of files where nothing can search them for private data. `figures`: whether the code draws any.
pub const fn files_go(figures: bool) -> &'static str {
    match figures {
        true => "figures and files are thrown away",
        false => "files are thrown away",
    }
}

/// No file to open or to save.
pub fn files_gone(count: u64) -> String {
    match count {
        1 => "its file was thrown away: private data was given".to_owned(),
        more => format!(
            "its {} files were thrown away: private data was given",
            number(more)
        ),
    }
}

pub fn private_values(names: &str) -> String {
    format!("a value of the private data of {names}")
}

/// `own`: those that only this run had, beyond what the sheet named. `key` shows each of them.
pub fn layers(tier: Tier, layers: usize, own: &[&str], key: &str) -> String {
    let layers = count(layers - own.len(), "layer");
    let own: String = own.iter().map(|name| format!(" and {name}")).collect();
    format!("{tier}: {layers}{own} · {key} lists them")
}

/// Above output that a person does not follow. `key` follows it again.
pub fn paused(lines: usize, key: &str) -> String {
    format!("paused, {} · {key} follows", count(lines, "new line"))
}

/// Behind the name of a figure.
pub fn undrawn(why: &str) -> String {
    format!("not drawn: {why}")
}

/// `files`: how many there are.
pub fn which_file(files: usize) -> String {
    format!("open which file, 1 to {}", number(files as u64))
}

pub fn no_such_file(files: usize) -> String {
    format!(
        "no such file; write a number from 1 to {}, or a name",
        number(files as u64)
    )
}

/// `saved`: how many of the files will be saved.
pub fn save_where(saved: usize, files: usize) -> String {
    match saved == files {
        true => format!("save {} into", count(files, "file")),
        false => format!(
            "save {} of {} into",
            number(saved as u64),
            count(files, "file")
        ),
    }
}

pub fn nothing_to_save(why: &str) -> String {
    format!("nothing can be saved: each file has {why}")
}

/// Follows the drawn figures. `save`: a key.
pub fn more_figures(figures: usize, save: &str) -> String {
    format!("{}: {save} saves", count(figures, "more figure"))
}

pub fn own_folder(own: &str) -> String {
    format!("in a new folder of their own there: {own}")
}

pub const NOT_SAVED: &str = "not saved: ";

pub fn not_saved_why(why: &str) -> String {
    format!(" ({why})")
}

pub fn saved_files(files: usize) -> String {
    format!("{}: ", count(files, "file"))
}

pub fn more_rows(rows: usize) -> String {
    format!("and {} that do not fit here", count(rows, "row"))
}

/// `cut`: whether there was more than a terminal takes.
/// `pane`: its name.
pub fn copied(pane: &str, bytes: usize, cut: bool) -> String {
    let what = match cut {
        true => format!("the first {}", super::bytes(bytes as u64)),
        false => super::bytes(bytes as u64),
    };
    format!("sent {what} of {pane} to the terminal's clipboard, as shown")
}

pub fn columns_of(columns: usize, is_private: bool) -> String {
    let private = if is_private { ", private" } else { "" };
    format!("{}{private}", count(columns, "column"))
}

pub fn more_columns(columns: usize) -> String {
    format!("and {} more", number(columns as u64))
}

/// Of a table that the agent brought.
pub fn brought_table(rows: usize, columns: usize) -> String {
    format!(
        "{} of {}, from the agent",
        count(rows, "row"),
        count(columns, "column")
    )
}

pub fn range(least: &str, greatest: &str) -> String {
    format!("{least} to {greatest}")
}

pub fn distinct(values: u64) -> String {
    format!("{} distinct", number(values))
}

pub fn missing(values: u64) -> String {
    format!("{} missing", number(values))
}

pub fn longest(row: usize, characters: usize) -> String {
    format!(
        "longest {}, row {}",
        number(characters as u64),
        number(row as u64)
    )
}

pub fn mixed(numbers: usize, texts: usize) -> String {
    format!("{} and {}:", count(numbers, "number"), count(texts, "text"))
}

pub fn row(row: usize) -> String {
    format!("row {}", number(row as u64))
}

pub fn first_rows(rows: usize) -> String {
    match rows {
        1 => "first row".to_owned(),
        more => format!("first {} rows", number(more as u64)),
    }
}

/// Behind them, in brackets: what of the rows is not shown. `wider`: the key that gives the pane more room.
pub fn cut_rows(
    columns: Option<(usize, usize)>,
    values: Option<usize>,
    wider: Option<&str>,
) -> String {
    let mut parts = Vec::new();
    parts.extend(
        columns.map(|(shown, of)| format!("{} of {}", number(shown as u64), count(of, "column"))),
    );
    parts.extend(values.map(|width| format!("… cuts values after {width} columns")));
    if parts.is_empty() {
        return String::new();
    }
    parts.extend(wider.map(|key| format!("{key} widens")));
    format!(" ({})", parts.join(", "))
}

pub fn last_rows(rows: usize) -> String {
    match rows {
        1 => "last row".to_owned(),
        more => format!("last {} rows", number(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_said_in_the_unit_of_its_limit() {
        assert_eq!(cpu_seconds(3_190), "3.1");
        assert_eq!((mebibytes(0), mebibytes(1)), ("0".into(), "1".into()));
        assert_eq!(bytes_of(11_001, 200_000), "12 of 200 KB");
        assert_eq!(bytes_of(0, 100), "0 of 100 bytes");
    }

    #[test]
    fn a_layer_that_only_a_run_has_is_named_beside_the_sheets_number() {
        let said = |all, own: &[&str]| layers(Tier::Kernel, all, own, "i");
        assert_eq!(said(19, &[]), "kernel: 19 layers · i lists them");
        assert_eq!(
            said(20, &["noexec"]),
            "kernel: 19 layers and noexec · i lists them"
        );
    }
}
