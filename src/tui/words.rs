//! The sentences the dashboard shows, and the words that go with a glyph. Help texts are beside
//! their keys (`keys`), and labels are beside the code that draws their values.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::model::{
    BoundInput, Change, Digest, EffectMark, ProposalId, Severity, State, VerdictKind,
};

use super::action::EditNews;
use super::theme::Role;
use super::ui::{Detail, Hurry, STREAK, Tally};

mod agents;
pub mod dossier;
mod keys;
mod lists;
mod log;
mod novelty;
pub mod policy;
pub mod reviewed;

pub use agents::*;
pub use keys::*;
pub use lists::{
    FAR_HERE, FAR_MARK, LINES, at_lines, differing, filter, filter_none, group, lost, more_alike,
    of, the_same, turned_group, turns_group, unlike,
};
pub use log::*;
pub use novelty::*;
pub mod plain;

pub use crate::model::grouped as number;

mod runs;
pub mod seat;
mod secrets;
pub mod votes;

pub use runs::*;
pub use secrets::*;

pub const NAME: &str = "countersign";
/// Between an agent's name and its title.
pub const SAYS: &str = " says: ";
/// Behind what is as it should be. `+`, which stands for the sign elsewhere in ASCII, would say that there is more.
pub fn well() -> &'static str {
    if super::charset::is_ascii() {
        "ok"
    } else {
        "✓"
    }
}

/// Before an agent's reason.
pub const WHY: &str = "why: ";
pub const NOTHING_SELECTED: &str = "nothing is selected";
pub const NOTHING_PENDING: &str = "nothing is pending";
pub const NOT_GRANTABLE: &str = "this cannot be granted: its verdict blocks it";
pub const NO_INPUTS_YET: &str = "its inputs are not read yet";
pub const NO_VERDICT: &str = "not analysed yet";
pub const NO_RANDOM: &str = "the system gives no random characters; nothing can be granted";
pub const ENVIRONMENT_WAIT: &str = "a grant must wait: the Python environment is being made";
pub const EDITED: &str = "edited by you";
/// In the queue's rows.
pub const EDITED_ROW: &str = "EDIT";
pub const AS_PROPOSED: &str = "as proposed";
pub const AGAINST_PROPOSED: &str = "against what was proposed by ";
pub const GONE: &str = "the proposal is gone";
pub const CHANGED: &str = "what would run changed; look again";
pub const WRONG_DIGITS: &str = "wrong characters, nothing granted";
/// Why the sheet asks once more, as long as `width` allows. `wait`: until its key counts.
pub fn hurried(hurry: &Hurry, wait: Duration, width: usize) -> String {
    let wait = match wait.as_secs_f32().ceil() {
        0.0 => String::new(),
        seconds => format!(", after {seconds} s"),
    };
    let long = format!(
        "▲ {} words in {}: reading takes {}. Read on, then Enter again{wait}",
        number(hurry.words as u64),
        seconds(hurry.looked),
        seconds(hurry.reading)
    );
    match super::text::width(&long) <= width {
        true => long,
        false => format!("▲ read on, Enter again{wait}"),
    }
}

/// `6 s`, `2 min`: whole seconds below two minutes.
pub fn seconds(time: Duration) -> String {
    match time.as_secs() {
        s @ ..120 => format!("{s} s"),
        s => format!("{} min", number(s / 60)),
    }
}

/// This session's decisions, as long as `width` allows.
pub fn tally(tally: &Tally, width: usize) -> String {
    let Tally {
        granted,
        denied,
        in_a_row,
        median_look,
        drills,
    } = *tally;
    let look = seconds(median_look);
    let [all, granted, denied, row] = [granted + denied, granted, denied, in_a_row].map(number);
    let long =
        format!("{granted} granted, {denied} denied · median look {look} · {row} granted in a row");
    let caught = match drills.shown {
        0 => String::new(),
        shown => format!(
            " · {} of {} caught",
            number(drills.caught),
            count(shown as usize, "drill")
        ),
    };
    let fits = |text: &String| super::text::width(text) <= width;
    if let Some(said) = [format!("{long}{caught}"), long].into_iter().find(fits) {
        return said;
    }
    let short = match in_a_row {
        STREAK.. => format!("▲ {row} granted in a row · look {look}"),
        _ => format!("{granted} of {all} granted · look {look}"),
    };
    let with = match drills.shown {
        0 => short.clone(),
        shown => format!(
            "{short} · drills {}/{}",
            number(drills.caught),
            number(shown)
        ),
    };
    if fits(&with) { with } else { short }
}

/// A long row of grants, pointed out on the sheet.
pub fn streak(tally: &Tally) -> String {
    format!(
        "▲ {} granted in a row, median look {}",
        number(tally.in_a_row),
        seconds(tally.median_look)
    )
}

/// What the key for details does on the sheet.
pub const fn unfolds(detail: Detail) -> &'static str {
    match detail {
        Detail::Folded => "unfolds",
        Detail::Whole => "folds",
    }
}

pub const NO_FOCUS: &str = "without the focus nothing is granted";
/// After a denial, which moves the selection.
pub const DENIED_LAST: &str = "denied; nothing waits";
pub const NOTHING_WAITS: &str = "nothing waits";
pub const DENIED_NEXT: &str = "denied; selected now: the next waiting one";
/// What the key for the most urgent one goes to.
pub const NEXT_WAITING: &str = "next waiting";
pub const KILLING: &str = "killing it";
pub const NOT_RUNNING: &str = "it does not run yet";
pub const NO_RECORD: &str = "no proposal belongs to this line";
pub const NO_COLOURS: &str = "this terminal is used without colours";
pub const NO_POINT: &str = "no finding and no effect in this code";
pub const NOTHING_OF_AGENT: &str = "nothing of this agent is pending";
pub const NO_PAUSE: &str = "without the log no agent can be paused or resumed";
pub const PAUSED: &str = "PAUSED";
/// In place of its number: the filter does not show the selected proposal.
pub const FILTERED: &str = "hidden";
pub const NONE_ALIKE: &str = "nothing of this agent that differs in numbers only waits";
pub const SEARCH: &str = "search";
pub const SEARCH_DECIDED: &str = "search, nothing waits";
pub const FILTER_OFF: &str = "the filter is off";
pub const FILTER_DROPPED: &str = "the filter hid it and is off now";
/// Private data, in a row of the queue and wherever there is room.
pub const PRIV: &str = "PRIV";
pub const PRIVATE: &str = "PRIVATE";
pub const AGENTS: &str = "AGENTS";
pub const POLICIES: &str = "POLICIES";
pub const NO_AGENT: &str = "No agent yet.";
/// Before the selected row of the list that has the keys, and of one that has not.
pub const HERE: &str = "▸";
pub const CHOSEN: &str = "▹";
/// An agent without a connection.
pub const AWAY: &str = "away";
pub const REFUSED_NOW: &str = "PAUSED: its new proposals are refused until a person resumes it";
pub const SHARED_UID_MEANS: &str = ": one that is not confined can type into this terminal";
pub const NO_SEARCH: &str = "nothing was searched yet";
pub const NOT_LONG_ENOUGH: &str = " for long enough yet";
pub const TOO_SMALL: &str = "the terminal is too small to grant anything";
pub const UNTITLED: &str = "(no title)";
/// In place of an agent's name for itself.
pub const NAMELESS: &str = "no name of its own";
pub const EMPTY: &str = "No proposal yet.";
pub const NONE_WAITS: &str = "No proposal waits.";
pub const EMPTY_HOW: &str = "Agents connect to";
pub const EMPTY_TRY: &str = "From another shell:";
pub const EMPTY_CODE: &str = "(no code: zero bytes)";
pub const SHARED_UID: &str = "agents share your uid";
pub const SHARED: &str = "shared uid";
/// The same once it was told. `details`: the key that tells it again.
pub fn shared_told(details: &str) -> String {
    format!("uid ({details})")
}
/// Behind `clear`, where there is no row for [`NO_FINDING`].
pub const CLEAR_MEANS: &str = ": no proof of safety";
pub const NO_FINDING: &str = "No rule matched. That does not make it safe.";
pub const NO_CAPABILITY: &str = "Computes; no other capability found.";
pub const NO_INPUT: &str = "no inputs";
pub const TOLD: &str = "private values WILL BE TOLD to the agent:";
pub const TOLD_BY: &str = "the policy says private = \"tell\"";
/// Follows an input's name on the screen.
pub const NOT_NAMED: &str = ": not named";
/// Follows the columns of an input that are picked by computed names.
pub const COMPUTED: &str = "others through a variable, ";
/// Follows the columns that leave, those from each of whose values something is computed, and those that are summed up.
pub const AS_IS: &str = " as is";
pub const ALL_COLUMNS: &str = "all columns";
/// How values are altered.
pub const fn change(by: Change) -> &'static str {
    match by {
        Change::Times => "×",
        Change::Over => "÷",
        Change::Plus => "+",
        Change::Minus => "-",
        Change::Is => "=",
        Change::Value => "value",
        Change::From => "from",
        Change::Where => "where",
        Change::Unless => "unless",
    }
}
pub const PER_ROW: &str = "per row";
pub const SUMMED: &str = "summed up";
/// Follows a file whose name looks like another one's.
pub const LOOKS_LIKE: &str = "LOOKS LIKE";
pub const OWN_ENVIRONMENT: &str = "of the run's own, emptied environment";
/// What is altered without a column's name.
pub const VALUES: &str = "values";
pub const PRINTING: &str = "how numbers are printed";
/// Behind what leaves: its lines.
pub const VARIABLES_LEAVE: &str = "and variables of the environment,";
pub const TANGLED: &str = "too tangled to follow: everything may leave";
pub const NO_REASON: &str = "gives no reason";
pub const NOTED: &str = "private data was not compared to its end; OUTCOME says how far";
pub const GIVEN_OUTPUT: &str = "output for the agent:";
pub const NO_OUTPUT: &str = "Nothing printed.";
pub const NO_OUTPUT_YET: &str = "Nothing printed yet.";
pub const STARTING: &str = "Granted; the child is being made.";
pub const QUIT: &str = "Quit?";
pub const CLOSING: &str = "closing: waits for what runs to end and for the log";
/// Why no checkpoint of the log is made, or kept elsewhere.
pub const UNANCHORED: &str = " ▲ Checkpoints of the log: ";
/// Why a host of a seat, or the engine of a host, is not reached.
pub const UNREACHED: &str = " ▲ Not reached: ";
pub const AUDIT_EMPTY: &str = "No record yet.";
pub const CUT_OUTPUT: &str = "… earlier output is not shown here; the audit log has it";
pub const LOG_CHECKING: &str = "log … checking";
/// The smallest terminal that shows enough to decide on.
pub const MIN_COLUMNS: u16 = 40;
pub const MIN_ROWS: u16 = 10;

pub fn too_small(columns: u16, rows: u16) -> String {
    format!(
        "{} Nothing can be granted until then.",
        reviewed::too_small(columns, rows)
    )
}

/// `what`: paths inside the environment.
pub fn environment_changed(what: &str) -> String {
    format!("the Python environment changed ({what}); look again")
}

/// A time of today, or a day with its time: `21:40`, `01-02 21:40`, `2025-01-02 21:40`.
pub fn when(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let form = if at.date() == now.date() {
        "%H:%M"
    } else if at.year() == now.year() {
        "%m-%d %H:%M"
    } else {
        "%Y-%m-%d %H:%M"
    };
    at.strftime(form).to_string()
}

/// The heading of a diff, before the agent's name.
pub fn against(when: &str) -> String {
    format!("against {when}, granted to ")
}

pub fn no_earlier(why: &str) -> String {
    format!("the earlier code cannot be read from the log: {why}")
}

/// Lines of a diff that are left out.
pub fn alike(lines: usize) -> String {
    match lines {
        1 => "⋯ 1 line alike".to_owned(),
        more => format!("⋯ {} lines alike", number(more as u64)),
    }
}

pub fn already(state: State) -> String {
    match state {
        State::Pending => "not shown to the agent yet".to_owned(),
        State::Error => "it could not be run".to_owned(),
        _ => format!("already {state}"),
    }
}

/// `left`: until the key counts.
pub fn too_early(key: &str, left: Duration) -> String {
    let wait = match left.as_secs_f32().ceil() {
        1.0 => String::new(),
        seconds => format!(" {seconds} s"),
    };
    format!("too early; wait{wait}, then press {key} again")
}

/// What ended by itself while nobody looked.
pub fn while_away(expired: usize, withdrawn: usize) -> String {
    let said = |n: usize, what: &str| format!("{} {what}", number(n as u64));
    let mut parts = Vec::new();
    if expired > 0 {
        parts.push(said(expired, "expired"));
    }
    if withdrawn > 0 {
        parts.push(said(withdrawn, "withdrawn"));
    }
    format!("while you were away: {}", parts.join(", "))
}

pub fn quit_question(pending: usize, running: usize) -> String {
    let n = |n: usize| number(n as u64);
    format!("Quit with {} pending, {} running?", n(pending), n(running))
}

pub fn proposals(count: usize) -> String {
    self::count(count, "proposal")
}

/// `1 finding`, `1,234 findings`.
pub fn count(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {what}{s}", number(count as u64))
}

pub fn cannot_grant(why: &str) -> String {
    format!("cannot grant: {why}")
}

pub fn cannot_edit(why: &str) -> String {
    format!("cannot edit: {why}")
}

/// `line`: the first line with an instruction, counted from 1.
pub fn not_for_editors(line: usize) -> String {
    format!("not opened: line {line} could instruct an editor or a terminal; deny it instead")
}

pub fn edit_news(news: &EditNews) -> String {
    match news {
        EditNews::NoEditor => "no editor: neither VISUAL nor EDITOR is set".to_owned(),
        EditNews::BadCommand => "VISUAL or EDITOR has a quote that is not closed".to_owned(),
        EditNews::NotStarted(why) => format!("the editor cannot be started: {why}"),
        EditNews::Unchanged => "nothing changed (some editors need an option to wait)".to_owned(),
        EditNews::NotTaken(why, None) => format!("nothing changed: {why}"),
        EditNews::NotTaken(why, Some(path)) => {
            format!("your text: …/{}; nothing changed: {why}", path.display())
        }
        EditNews::Taken => "your edit is judged anew: read it, then decide".to_owned(),
        EditNews::TooLate(why, path) => format!("your text: …/{}; {why}", path.display()),
    }
}

/// How many other pending proposals have the same shape: the same code but for its numbers, which
/// may be equal too.
pub fn others_alike(count: usize) -> String {
    format!("≈ {} more, numbers aside", number(count as u64))
}

/// The same where it is said how they differ.
pub fn others_alike_but(count: usize) -> String {
    format!("≈ {} more: ", number(count as u64))
}

pub fn order(by: &str) -> String {
    format!("the queue is ordered {by}")
}

/// The picker's footer. `former`: the palette in use before.
pub fn picks(theme: &str, former: &str) -> String {
    format!("theme: {theme}   Enter keeps it   Esc goes back to {former}")
}

/// What a palette's row shows in that palette.
pub const SAMPLE: [(&str, Role); 6] = [
    ("clear", Role::Clear),
    ("flagged", Role::Flagged),
    ("blocked", Role::Blocked),
    ("private", Role::Private),
    (" mark ", Role::Mark),
    ("text", Role::Text),
];

/// `any`: whether there is any marked text to draw.
pub const fn as_drawn(on: bool, any: bool) -> &'static str {
    match (on, any) {
        (true, true) => "marked text also as this terminal draws it",
        (true, false) => "no marked text here that could be drawn",
        (false, _) => "marks only",
    }
}

/// A word of the glossary, typed where a command is expected.
pub fn is_no_command(word: &str, meaning: &str) -> String {
    format!("no command; {word} means: {meaning}")
}

pub fn not_found(what: &str, place: &str) -> String {
    format!("not found in {place}: {what}")
}

fn span(what: &str, first: usize, last: usize) -> String {
    let n = |n: usize| number(n as u64);
    if first >= last {
        format!("{what} {}", n(last))
    } else {
        format!("{what}s {}–{}", n(first), n(last))
    }
}

pub fn lines(first: usize, last: usize) -> String {
    span("line", first, last)
}

pub fn rows(first: usize, last: usize) -> String {
    span("row", first, last)
}

pub const fn effect(mark: EffectMark) -> &'static str {
    match mark {
        EffectMark::Private => "reads private",
        EffectMark::Reads => "reads",
        EffectMark::Alters => "alters",
        EffectMark::Writes => "writes",
        EffectMark::System => "system:",
        EffectMark::Deletes => "deletes",
        EffectMark::Runs => "runs",
        EffectMark::Network => "network:",
    }
}

/// `2/7 line 14: EXEC001 runs-program`.
pub fn point(at: usize, of: usize, line: u32, what: &str) -> String {
    format!("{at}/{of} line {line}: {what}")
}

pub fn not_seen(what: &str) -> String {
    format!("{what} not seen")
}

pub fn input_not_seen(name: &str, what: &str) -> String {
    format!("input {name}: {what} not seen")
}

/// Follows a message about unseen text: how to reach it.
pub fn goes_there(key: &str) -> String {
    format!("; {key} goes there")
}

pub fn wraps(key: &str) -> String {
    format!("; {key} wraps")
}

pub fn sheet_not_seen(first: usize, last: usize, key: &str) -> String {
    format!(
        "{} of this sheet not seen; {key} scrolls",
        rows(first, last)
    )
}

pub fn input_heading(input: &BoundInput, format: &str) -> String {
    format!(
        "input {} ({format}, {}, sha256 {}…)",
        input.name,
        bytes(input.bytes),
        input.sha256.short(8)
    )
}

/// The end of an id; `audit show` accepts it too.
pub fn id_end(id: ProposalId) -> String {
    let text = id.to_string();
    format!("…{}", &text[text.len() - 8..])
}

/// `1,234 bytes`.
pub fn bytes(n: u64) -> String {
    if n == 1 {
        "1 byte".to_owned()
    } else {
        format!("{} bytes", number(n))
    }
}

/// Four groups of four hex digits: enough to compare at a glance.
pub fn fingerprint(digest: Digest) -> String {
    let hex = digest.short(16);
    format!(
        "{} {} {} {}",
        &hex[..4],
        &hex[4..8],
        &hex[8..12],
        &hex[12..]
    )
}

/// Time left: `0:42`, `59:59`, `7h59`.
pub fn countdown(left: Duration) -> String {
    let s = left.as_secs();
    if s < 3600 {
        format!("{}:{:02}", s / 60, s % 60)
    } else {
        format!("{}h{:02}", s / 3600, s / 60 % 60)
    }
}

/// `41 ms`, `5.2 s`.
pub fn took(ms: u64) -> String {
    if ms < 1000 {
        format!("{ms} ms")
    } else {
        format!("{}.{} s", number(ms / 1000), ms % 1000 / 100)
    }
}

/// Glyph and word, always together.
pub const fn verdict(kind: VerdictKind) -> (&'static str, &'static str, Role) {
    match kind {
        VerdictKind::Clear => ("●", "clear", Role::Clear),
        VerdictKind::Flagged => ("▲", "flagged", Role::Flagged),
        VerdictKind::Blocked => ("■", "blocked", Role::Blocked),
        VerdictKind::Unanalyzable => ("?", "unanalyzable", Role::Unanalyzable),
    }
}

/// Glyph and word of a state other than pending.
pub const fn state(state: State) -> (&'static str, &'static str, Role) {
    let (glyph, role) = match state {
        State::Pending => ("·", Role::Text),
        State::Granted => ("▷", Role::Accent),
        State::Running => ("►", Role::Accent),
        State::Succeeded => ("✓", Role::Good),
        State::Failed | State::Error => ("✗", Role::Bad),
        State::Denied => ("⊘", Role::Dim),
        State::Expired => ("⧗", Role::Dim),
        State::Withdrawn => ("←", Role::Dim),
        State::Blocked => ("■", Role::Blocked),
        State::Unattended => ("○", Role::Dim),
        State::Drilled => ("◇", Role::Accent),
    };
    (glyph, state.as_str(), role)
}

/// The gutter's mark for a finding.
pub const fn severity(severity: Severity) -> (&'static str, Role) {
    match severity {
        Severity::Critical | Severity::High => ("■", Role::Blocked),
        Severity::Medium => ("▲", Role::Flagged),
        Severity::Low => ("△", Role::Flagged),
        Severity::Info => ("·", Role::Dim),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_times_are_short() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_284), "1,284");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(countdown(Duration::from_secs(42)), "0:42");
        assert_eq!(countdown(Duration::from_secs(28_799)), "7h59");
        assert_eq!(took(41), "41 ms");
        assert_eq!(took(5_230), "5.2 s");
    }
}
