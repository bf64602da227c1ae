//! Rules for files.

use super::{Rule, Weight};
use crate::model::{Action, Capability, Severity};

pub static FS_OUTPUT: Rule = Rule {
    code: "FS001",
    name: "output-file",
    severity: Severity::Info,
    weight: Weight::AtLeast(Action::Note),
    capability: None,
    cwe: &[],
    message: "a file of the output folder",
    hint: "nothing to do",
    example: "df.to_csv(\"summary.csv\")",
};

pub static FS_COMPUTED: Rule = Rule {
    code: "FS002",
    name: "computed-file-name",
    severity: Severity::Medium,
    weight: Weight::AtLeast(Action::Flag),
    capability: None,
    cwe: &[73],
    message: "a file whose name is computed; it can only be one of the output folder",
    hint: "write the name as a literal",
    example: "pd.read_csv(path)",
};

pub static FS_OUTSIDE: Rule = Rule {
    code: "FS003",
    name: "file-outside",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[22, 73],
    message: "a file outside the output folder",
    hint: "use a relative name, as \"summary.csv\" or \"out/summary.csv\": files live in the output folder",
    example: "open(\"/etc/passwd\")",
};

pub static FS_VALUE: Rule = Rule {
    code: "FS004",
    name: "file-function-as-value",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[73],
    message: "hands a function that opens files on as a value",
    hint: "call it directly",
    example: "map(open, names)",
};

pub static FS_DATABASE: Rule = Rule {
    code: "FS005",
    name: "database",
    severity: Severity::High,
    weight: Weight::AtLeast(Action::Block),
    capability: Some(Capability::FsWrite),
    cwe: &[89],
    message: "opens a database",
    hint: "keep the result in a DataFrame, or write a csv file",
    example: "df.to_sql(\"t\", \"sqlite:///x.db\")",
};

pub static FS_MACHINE_PATH: Rule = Rule {
    code: "FS006",
    name: "machine-path",
    severity: Severity::Medium,
    weight: Weight::AtLeast(Action::Flag),
    capability: None,
    cwe: &[73],
    message: "hands a path of the machine to a library",
    hint: "a relative name is a file of the output folder",
    example: "import pyarrow.dataset as ds; ds.ParquetFileFormat().inspect(\"/etc/passwd\")",
};

pub static FS_MISSING: Rule = Rule {
    code: "FS007",
    name: "no-such-file",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "a file that nothing wrote",
    hint: "there are no files but those that the snippet writes: bring data as inputs",
    example: "pd.read_csv(\"sales.csv\")",
};

pub static FS_NAME: Rule = Rule {
    code: "FS008",
    name: "file-name",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "a name that no file of the output folder can have",
    hint: "a name has at most 100 characters, without control characters and backslashes, behind at most three folders",
    example: "df.to_csv(\"out/2026/may/eu/total.csv\")",
};

pub static FS_FOLDER: Rule = Rule {
    code: "FS009",
    name: "no-such-folder",
    severity: Severity::Info,
    weight: Weight::Always(Action::Note),
    capability: None,
    cwe: &[],
    message: "a file of a folder that nothing makes",
    hint: "make the folder first",
    example: "df.to_csv(\"out/summary.csv\")",
};

pub(super) static RULES: &[&Rule] = &[
    &FS_OUTPUT,
    &FS_COMPUTED,
    &FS_OUTSIDE,
    &FS_VALUE,
    &FS_DATABASE,
    &FS_MACHINE_PATH,
    &FS_MISSING,
    &FS_NAME,
    &FS_FOLDER,
];
