//! The header of the program that only reads a log: that it reads, which folder, and what vouches for the log.

use ratatui::layout::Rect;

use crate::audit::Stage;

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::plain::{exact, plain};
use super::super::program::{Reviewed, Vouched};
use super::super::text;
use super::super::theme::Role;
use super::super::words::reviewed as words;
use super::Screen;

/// Columns between two statements.
const GAP: u16 = 3;
/// The folder has at least so many columns before the program's name has any.
const FOLDER: u16 = 24;
/// Cells of the bar of progress.
const CELLS: u64 = 10;

impl Screen<'_> {
    pub(super) fn reviewed_header(canvas: &mut Canvas<'_>, area: Rect, reviewed: &Reviewed) {
        let (forms, role) = vouched(&reviewed.vouched);
        let [long, short] = forms.map(|said| (text::width(&said) as u16, said));
        let fixed = text::width(words::READ_ONLY) as u16 + 2 * GAP + 1;
        let least = (text::width(&reviewed.folder) as u16).min(FOLDER);
        // The folder is cut before the sentence is shortened, and nothing else is cut for either.
        let fits = long.0 + fixed + least <= area.width;
        let (wide, said) = if fits { long } else { short };
        let right = area.right().saturating_sub(wide + 1).max(area.x);
        canvas.put(right, area.y, wide, &said, role);
        let end = right.saturating_sub(GAP);
        let mut x = area.x + 1;
        let room = |x: u16| end.saturating_sub(x);
        let name = text::width(words::NAME) as u16;
        if room(x) >= name + fixed + least {
            x += canvas.put(x, area.y, name, words::NAME, Role::Accent) + GAP;
        }
        x += canvas.put(x, area.y, room(x), words::READ_ONLY, Role::Strong) + GAP;
        let folder = end_of(&reviewed.folder, usize::from(room(x)));
        x += canvas.put_claim(x, area.y, room(x), &folder, Role::Text) + GAP;
        if reviewed.is_written && usize::from(room(x)) >= text::width(words::WRITTEN) {
            canvas.put(x, area.y, room(x), words::WRITTEN, Role::Dim);
        }
    }

    /// What is wrong with the log, and how far its index is.
    pub(super) fn reviewed_banner(reviewed: &Reviewed, width: u16) -> Flow {
        let mut paras = Vec::new();
        let mut wrong = |sign: &'static str, role: Role, why: &String| {
            let para = claim::and(Para::new(sign, role).hang(1), why, Role::Text);
            paras.push(para.and(words::says_all(&reviewed.verify), Role::Dim));
        };
        match &reviewed.vouched {
            Vouched::Checking | Vouched::NotAnchored | Vouched::Through(_) => {}
            Vouched::Unusable(why) => wrong(words::UNUSABLE, Role::Flagged, why),
            Vouched::Damaged(first) => wrong(words::DAMAGED, Role::Bad, first),
            Vouched::Contradicted(why) => wrong(words::NOT_SIGNED, Role::Alarm, &format!(" {why}")),
        }
        if let Stage::Making { read, of } = reviewed.index {
            let filled = (read.saturating_mul(CELLS) / of.max(1)).min(CELLS) as usize;
            let mut para = Para::new(words::INDEX, Role::Strong);
            if width >= 70 {
                para = para
                    .and("▮".repeat(filled), Role::Accent)
                    .and("▯".repeat(CELLS as usize - filled), Role::Rule)
                    .and(" ", Role::Text);
            }
            let para = para.and(words::made(read, of), Role::Text);
            paras.push(para.and(words::NO_OTHER, Role::Dim).hang(1));
        }
        Flow::new(&paras, width)
    }

    /// The same in plain lines, each a line.
    pub(super) fn spoken_of(reviewed: &Reviewed) -> Vec<String> {
        let mut out = Vec::new();
        let all = plain(&words::says_all(&reviewed.verify));
        let wrong =
            |sign: &str, why: &String| format!("{}{}{all}", plain(sign.trim()), exact(why).0);
        match &reviewed.vouched {
            Vouched::Checking => out.push(words::plain::CHECKING.to_owned()),
            Vouched::NotAnchored => out.push(words::plain::NOT_ANCHORED.to_owned()),
            Vouched::Through(seq) => out.push(words::plain::through(*seq)),
            Vouched::Unusable(why) => out.push(wrong(words::UNUSABLE, &format!(" {why}"))),
            Vouched::Damaged(first) => out.push(wrong(words::DAMAGED, &format!(" {first}"))),
            Vouched::Contradicted(why) => out.push(wrong(words::NOT_SIGNED, &format!(": {why}"))),
        }
        if reviewed.is_written {
            out.push(words::plain::WRITTEN.to_owned());
        }
        if matches!(reviewed.index, Stage::Making { .. }) {
            out.push(words::plain::MAKING.to_owned());
        }
        out
    }
}

/// A sentence, the same shorter, and how it looks.
fn vouched(vouched: &Vouched) -> ([String; 2], Role) {
    match vouched {
        Vouched::Checking => (words::checking().map(str::to_owned), Role::Flagged),
        Vouched::NotAnchored => (words::not_anchored(), Role::Dim),
        Vouched::Through(seq) => (words::through(*seq), Role::Good),
        Vouched::Unusable(_) => (words::unusable(), Role::Flagged),
        Vouched::Damaged(_) => (words::IS_DAMAGED.map(str::to_owned), Role::Bad),
        Vouched::Contradicted(_) => (words::IS_CONTRADICTED.map(str::to_owned), Role::Alarm),
    }
}

/// The end of a path, which tells more than its beginning.
fn end_of(path: &str, columns: usize) -> String {
    if claim::width(path) <= columns {
        return path.to_owned();
    }
    let starts = path.char_indices().map(|(at, _)| &path[at..]);
    let fits = |rest: &&str| claim::width(rest) < columns;
    let mut ends = starts.filter(fits);
    // From the beginning of a name on, if there is one.
    let first = ends.next().unwrap_or_default();
    let whole = first.find('/').map_or(first, |at| &first[at..]);
    format!("…{whole}")
}
