//! Modules and members that are known to only compute, so that `[widen.imports]` may add them: those that the
//! built-in policies list, and those of the table here.
//!
//! The standard library is finite, so everything in it that is not listed is left out on purpose. Other
//! packages are countless: one that was never examined is unknown, which means neither harmless nor forbidden.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::load;
use super::members::library;
use super::resolved::Contract;

/// Modules and their members. `*` stands for all public members that are not modules, `-name` excludes one.
/// Without `*`, only the named members may be added.
const TABLE: &[(&str, &str)] = &[
    ("binascii", "*"),
    ("bz2", "BZ2Compressor BZ2Decompressor compress decompress"),
    ("colorsys", "*"),
    ("contextvars", "*"),
    (
        "difflib",
        "Differ HtmlDiff IS_CHARACTER_JUNK IS_LINE_JUNK Match SequenceMatcher context_diff diff_bytes \
         get_close_matches ndiff restore unified_diff",
    ),
    ("errno", "*"),
    (
        "fnmatch",
        "filter filterfalse fnmatch fnmatchcase translate",
    ),
    ("getopt", "GetoptError error getopt gnu_getopt"),
    ("graphlib", "*"),
    ("gzip", "BadGzipFile compress decompress"),
    ("hmac", "*"),
    ("html", "escape unescape"),
    ("html.entities", "*"),
    ("html.parser", "HTMLParser"),
    (
        "io",
        "BufferedIOBase BufferedReader BufferedWriter BytesIO DEFAULT_BUFFER_SIZE IOBase \
         IncrementalNewlineDecoder RawIOBase SEEK_CUR SEEK_END SEEK_SET StringIO TextIOBase \
         TextIOWrapper UnsupportedOperation",
    ),
    (
        "ipaddress",
        "AddressValueError IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface IPv6Network \
         NetmaskValueError collapse_addresses get_mixed_type_key ip_address ip_interface ip_network \
         summarize_address_range v4_int_to_packed v6_int_to_packed",
    ),
    ("json.decoder", "JSONDecodeError JSONDecoder"),
    ("json.encoder", "JSONEncoder"),
    ("keyword", "*"),
    (
        "lzma",
        "CHECK_CRC32 CHECK_CRC64 CHECK_NONE CHECK_SHA256 FORMAT_ALONE FORMAT_AUTO FORMAT_RAW FORMAT_XZ \
         LZMACompressor LZMADecompressor LZMAError PRESET_DEFAULT PRESET_EXTREME compress decompress",
    ),
    // The excluded functions read attributes by name.
    ("operator", "* -attrgetter -methodcaller"),
    (
        "plistlib",
        "FMT_BINARY FMT_XML InvalidFileException PlistFormat UID dumps loads",
    ),
    (
        "queue",
        "Empty Full LifoQueue PriorityQueue Queue ShutDown SimpleQueue",
    ),
    ("quopri", "decodestring encodestring"),
    ("reprlib", "Repr aRepr recursive_repr repr"),
    ("secrets", "*"),
    ("shlex", "join quote split"),
    // Format fields of `Formatter` read attributes.
    ("string", "* -Formatter"),
    ("stringprep", "*"),
    ("struct", "*"),
    ("token", "*"),
    ("tomllib", "*"),
    // The excluded functions read the machine's address or the command line.
    ("uuid", "* -getnode -main -uuid1 -uuid6"),
    (
        "xml.etree.ElementTree",
        "Comment Element PI ParseError ProcessingInstruction QName SubElement TreeBuilder XML XMLID \
         fromstring fromstringlist indent iselement tostring tostringlist",
    ),
    ("zlib", "*"),
    (
        "dateutil.easter",
        "EASTER_JULIAN EASTER_ORTHODOX EASTER_WESTERN easter",
    ),
    (
        "dateutil.parser",
        "ParserError UnknownTimezoneWarning isoparse isoparser parse parser parserinfo",
    ),
    (
        "dateutil.relativedelta",
        "FR MO SA SU TH TU WE relativedelta weekday weekdays",
    ),
    (
        "dateutil.rrule",
        "DAILY FR HOURLY MINUTELY MO MONTHLY SA SECONDLY SU TH TU WE WEEKLY YEARLY rrule rruleset \
         rrulestr weekday weekdays",
    ),
    ("joblib", "Parallel cpu_count delayed effective_n_jobs hash"),
    ("lifelines", "*"),
    ("lifelines.datasets", "*"),
    ("lifelines.exceptions", "*"),
    ("lifelines.plotting", "*"),
    ("lifelines.statistics", "*"),
    ("lifelines.utils", "*"),
    (
        "tabulate",
        "simple_separated_format tabulate tabulate_formats",
    ),
    ("tqdm", "tqdm trange"),
    ("tqdm.auto", "tqdm trange"),
];

/// Standard modules of Python versions other than the one that the member lists were made with.
const OF_OTHER_PYTHONS: &str = "annotationlib asynchat asyncore binhex cgi cgitb chunk compression crypt \
     distutils formatter imp lib2to3 macpath msilib parser pipes profiling smtpd symbol telnetlib \
     test this xdrlib";

type Listed = BTreeMap<String, BTreeSet<String>>;

static KNOWN: LazyLock<Listed> = LazyLock::new(|| {
    let mut known = Listed::new();
    // If they cannot be read, fewer modules are known, and fewer can be added.
    for policy in load::builtin().unwrap_or_default() {
        if policy.contract == Contract::Script {
            continue;
        }
        for (module, members) in &policy.imports {
            let all = known.entry(module.clone()).or_default();
            all.extend(members.iter().cloned());
        }
    }
    for (module, members) in TABLE {
        let members = members.split_whitespace().map(str::to_owned);
        known.insert((*module).to_owned(), members.collect());
    }
    known
});

/// What is known of a module or member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It only computes.
    Computes,
    /// It was examined and left out, or belongs to the standard library and is not listed.
    LeftOut,
    /// It was never examined.
    Unknown,
}

/// What is known of a module.
pub(super) fn module(path: &str) -> Known {
    if KNOWN.contains_key(path) {
        Known::Computes
    } else if is_standard(path) {
        Known::LeftOut
    } else {
        Known::Unknown
    }
}

/// What is known of a member of a module.
pub(super) fn member(module: &str, name: &str) -> Known {
    let Some(listed) = KNOWN.get(module) else {
        return if is_standard(module) {
            Known::LeftOut
        } else {
            Known::Unknown
        };
    };
    if listed.contains(&format!("-{name}")) {
        Known::LeftOut
    } else if listed.contains(name) {
        Known::Computes
    } else if !listed.contains("*") {
        Known::LeftOut
    } else if !library().is_listed(module) || library().has_member(module, name) {
        Known::Computes
    } else if is_standard(module) {
        // Not a member of its own, so it is a module that it imports.
        Known::LeftOut
    } else {
        Known::Unknown
    }
}

/// The listed members of a known module.
pub(super) fn listed(module: &str) -> Option<&'static BTreeSet<String>> {
    KNOWN.get(module)
}

/// Whether a module belongs to the standard library of any Python version.
pub(super) fn is_standard(path: &str) -> bool {
    let top = path.split('.').next().unwrap_or(path);
    library().is_stdlib(top) || OF_OTHER_PYTHONS.split_whitespace().any(|name| name == top)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_the_built_in_policies_list_or_leave_out_are_known() {
        assert_eq!(member("scipy.signal", "butter"), Known::Computes);
        assert_eq!(member("json", "decoder"), Known::LeftOut);
        assert_eq!(
            member("numpy.lib.stride_tricks", "as_strided"),
            Known::LeftOut
        );
        assert_eq!(
            member("matplotlib.pyplot", "backend_registry"),
            Known::LeftOut
        );
        assert_eq!(member("pandas", "io"), Known::Unknown);
        assert_eq!(member("acme", "f"), Known::Unknown);
        assert_eq!(module("acme"), Known::Unknown);
        assert_eq!(module("test.support"), Known::LeftOut);
        assert_eq!(module("html.parser"), Known::Computes);
    }

    #[test]
    fn the_table_lists_no_module_that_reaches_the_interpreter_or_the_network() {
        use crate::model::Capability;
        for (module, _) in TABLE {
            let reaches = super::super::module_capability(module);
            assert!(
                matches!(reaches, None | Some(Capability::FsRead)),
                "{module}"
            );
        }
    }
}
