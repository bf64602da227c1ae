//! Run output as lines. A line rewritten with `\r`, such as a progress bar, is shown once in its
//! last state with the number of rewrites; the log and the agent have every byte.

use crate::model::StreamName;

use super::flow::Para;
use super::gutter::Gutter;
use super::text;
use super::theme::Role;

/// The most bytes of output to lay out per frame while its end is followed. Of a rewritten line only
/// the last state counts.
pub const TAIL: usize = 32 * 1024;

/// One line in its last state.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    pub stream: StreamName,
    pub text: String,
    /// The number of earlier states.
    pub rewritten: usize,
}

impl Line {
    /// `parts`: the texts written to the line, in order.
    fn new(stream: StreamName, parts: &[&str], most: usize) -> Self {
        let whole = parts.concat();
        let mut states = whole.split('\r').filter(|state| !state.is_empty());
        let (text, rewritten) = match states.next_back() {
            Some(last) => (last, states.count()),
            None => ("", 0),
        };
        // A carriage return that rewrote nothing is kept like any other character.
        let text = if rewritten == 0 { &whole } else { text };
        Self {
            stream,
            text: tail(text, most).to_owned(),
            rewritten,
        }
    }

    pub fn para(&self) -> Para {
        let role = match self.stream {
            StreamName::Stdout => Role::Text,
            StreamName::Stderr => Role::Stderr,
        };
        let spans = text::spans(&self.text, role).into_iter();
        let para = spans.fold(Para::default(), |para, (text, role)| para.given(text, role));
        para.behind(Gutter::of(self.stream, self.rewritten))
    }
}

/// A line whose pieces are being collected, from the last to the first.
struct Open<'a> {
    stream: StreamName,
    parts: Vec<&'a str>,
    /// Whether a part contains a carriage return.
    rewrites: bool,
}

/// The last lines of the output, of about `most` bytes, and whether there were more. `pieces` go from
/// the last to the first; neighbours come from different streams.
///
/// A line interrupted by the other stream continues in a new row; a rewritten line moves to where
/// it was last written.
pub fn lines<'a>(
    pieces: impl Iterator<Item = (StreamName, &'a str)>,
    most: usize,
) -> (Vec<Line>, bool) {
    let mut found: Vec<Open<'a>> = Vec::new();
    // For stdout and stderr: the line that earlier output may belong to.
    let mut open: [Option<usize>; 2] = [None, None];
    let mut room = most;
    let mut more = false;
    'pieces: for (stream, text) in pieces {
        let of_stream = usize::from(stream == StreamName::Stderr);
        for (i, part) in text.rsplit('\n').enumerate() {
            let ended = i > 0;
            if !ended {
                if let Some(line) = open[of_stream].and_then(|at| found.get_mut(at))
                    && (line.rewrites || part.contains('\r'))
                {
                    line.rewrites = true;
                    line.parts.push(part);
                    continue;
                }
                if part.is_empty() {
                    continue;
                }
            }
            if room == 0 {
                more = true;
                break 'pieces;
            }
            room = room.saturating_sub(state(part).len() + 1);
            open[of_stream] = Some(found.len());
            found.push(Open {
                stream,
                parts: vec![part],
                rewrites: part.contains('\r'),
            });
        }
    }
    let lines = found.into_iter().rev().map(|mut line| {
        line.parts.reverse();
        Line::new(line.stream, &line.parts, most)
    });
    (lines.collect(), more)
}

/// The text after the last carriage return that is followed by anything.
fn state(part: &str) -> &str {
    let states = part.rsplit('\r');
    states
        .into_iter()
        .find(|state| !state.is_empty())
        .unwrap_or("")
}

/// The last bytes of the text, starting at a character boundary.
pub fn tail(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bench::{Bench, Making};
    use super::super::flow::Flow;
    use super::super::snapshot_tests::at_sizes;
    use super::super::text;
    use super::*;
    use StreamName::{Stderr, Stdout};

    /// The lines for pieces given in the order they were written.
    fn shown_lines(pieces: &[(StreamName, &str)]) -> Vec<(StreamName, String, usize)> {
        let (lines, _) = lines(pieces.iter().rev().copied(), TAIL);
        let all = lines.into_iter();
        all.map(|line| (line.stream, line.text, line.rewritten))
            .collect()
    }

    #[test]
    fn a_rewritten_line_shows_its_last_state() {
        for (text, line, rewritten) in [
            ("plain", "plain", 0),
            ("progress 10%\rprogress 20%\r", "progress 20%", 1),
            ("\r 0%\r 50%\r100%", "100%", 2),
            ("\r 0%\r 50%\r100%\n", "100%", 2),
            ("a longer state\rshort", "short", 1),
            ("state\r     \r", "     ", 1),
            ("漢漢漢\r漢", "漢", 1),
            ("a\r\r\rb", "b", 1),
            // Nothing was rewritten, so nothing is left out.
            ("line\r", "line\r", 0),
            ("\r 0%", "\r 0%", 0),
            ("\r", "\r", 0),
        ] {
            assert_eq!(
                shown_lines(&[(Stderr, text)]),
                [(Stderr, line.to_owned(), rewritten)],
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_rewritten_line_moves_below_what_interrupts_it_and_another_does_not() {
        let bar = [
            (Stderr, "\r 0%"),
            (Stdout, "one\n"),
            (Stderr, "\r50%"),
            (Stdout, "two\n"),
            (Stderr, "\r100%\n"),
            (Stdout, "three\n"),
        ];
        assert_eq!(
            shown_lines(&bar),
            [
                (Stdout, "one".to_owned(), 0),
                (Stdout, "two".to_owned(), 0),
                (Stderr, "100%".to_owned(), 2),
                (Stdout, "three".to_owned(), 0),
            ]
        );
        // The bar ends with a separate line feed.
        assert_eq!(
            shown_lines(&[
                (Stderr, "\r 0%\r50%"),
                (Stdout, "x\n"),
                (Stderr, "\ndone\n")
            ]),
            [
                (Stdout, "x".to_owned(), 0),
                (Stderr, "50%".to_owned(), 1),
                (Stderr, "done".to_owned(), 0),
            ]
        );
        assert_eq!(
            shown_lines(&[
                (Stdout, "so"),
                (Stderr, "warning\n"),
                (Stdout, "uth\n\nend")
            ]),
            [
                (Stdout, "so".to_owned(), 0),
                (Stderr, "warning".to_owned(), 0),
                (Stdout, "uth".to_owned(), 0),
                (Stdout, String::new(), 0),
                (Stdout, "end".to_owned(), 0),
            ]
        );
    }

    /// However often a bar is redrawn, output printed before it stays visible.
    #[test]
    fn a_bar_does_not_drown_earlier_output() {
        let bar: String = (0..50_000)
            .map(|n| format!("\r{n:>6}/50000 ####"))
            .collect();
        let (found, more) = lines(
            [(Stderr, bar.as_str()), (Stdout, "the mean is 3\n")].into_iter(),
            TAIL,
        );
        assert!(!more);
        let texts: Vec<&str> = found.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["the mean is 3", " 49999/50000 ####"]);
    }

    #[test]
    fn only_the_end_of_much_output_is_laid_out() {
        let much = "0123456789\n".repeat(10_000);
        let (found, more) = lines(std::iter::once((Stdout, much.as_str())), TAIL);
        assert!(more && found.len() <= TAIL / 11 + 1, "{}", found.len());
        let blank = "\n".repeat(1_000_000);
        let (found, more) = lines(std::iter::once((Stdout, blank.as_str())), TAIL);
        assert!(more && found.len() <= TAIL);
        let long = "x".repeat(1_000_000);
        let (found, _) = lines(std::iter::once((Stdout, long.as_str())), TAIL);
        assert_eq!(found[0].text.len(), TAIL);
    }

    #[test]
    fn a_progress_bar_is_one_line_that_moves() {
        at_sizes("progress_bar", |b: &mut Bench| {
            b.propose(Making::clear("for i in tqdm(range(3)): print(i)\n"));
            let id = b.start();
            let bar = |n: usize| {
                format!(
                    "\r{:>3}%|{:<10}| {n}/3 [00:0{n}<00:00, 1.00it/s]",
                    n * 33,
                    "█".repeat(n * 3)
                )
            };
            b.output(id, StreamName::Stderr, &bar(0));
            for n in 1..3 {
                b.output(id, StreamName::Stdout, &format!("{n}\n"));
                b.output(id, StreamName::Stderr, &bar(n));
            }
            b.draw();
            b.output(id, StreamName::Stderr, "\rdone");
        });
    }

    proptest! {
        /// Exactly a line's last state is drawn.
        #[test]
        fn exactly_the_last_segment_is_drawn(
            states in prop::collection::vec("[a-z 漢\\x1b\\t\u{301}]{1,90}", 1..6),
            ends in any::<bool>(),
            width in 20_u16..121,
        ) {
            let mut text = states.join("\r");
            if ends {
                text.push('\n');
            }
            let (found, _) = lines(std::iter::once((Stderr, text.as_str())), TAIL);
            prop_assert_eq!(found.len(), 1);
            let paras: Vec<Para> = found.iter().map(Line::para).collect();
            let flow = Flow::new(&paras, width);
            let mut drawn = String::new();
            for row in &flow.rows {
                for (part, _) in &row.spans {
                    drawn.push_str(&text::plain(part));
                }
            }
            let squeeze = |s: &str| s.replace(' ', "");
            let last = states.last().map_or("", String::as_str);
            prop_assert_eq!(squeeze(&drawn), squeeze(&text::plain(last)));
            prop_assert_eq!(found[0].rewritten, states.len() - 1);
        }

        /// However the streams interleave, each line's last state appears once and its earlier
        /// states never.
        #[test]
        fn each_line_of_a_bar_is_shown_once(
            bars in prop::collection::vec(prop::collection::vec(1_u32..1_000_000, 2..5), 1..4),
            turns in prop::collection::vec(any::<bool>(), 40),
        ) {
            let mut written: Vec<(StreamName, String)> = Vec::new();
            let mut turn = turns.iter().cycle();
            for bar in &bars {
                for state in bar {
                    written.push((Stderr, format!("\r<{state}>")));
                    if turn.next() == Some(&true) {
                        written.push((Stdout, "line\n".to_owned()));
                    }
                }
                written.push((Stderr, "\n".to_owned()));
            }
            let mut pieces: Vec<(StreamName, String)> = Vec::new();
            for (stream, text) in written {
                match pieces.last_mut() {
                    Some((last, joined)) if *last == stream => joined.push_str(&text),
                    _ => pieces.push((stream, text)),
                }
            }
            let (found, _) = lines(pieces.iter().rev().map(|(s, t)| (*s, t.as_str())), TAIL);
            let errors: Vec<(String, usize)> = found
                .into_iter()
                .filter(|line| line.stream == Stderr)
                .map(|line| (line.text, line.rewritten))
                .collect();
            let expected: Vec<(String, usize)> = bars
                .iter()
                .map(|bar| (format!("<{}>", bar[bar.len() - 1]), bar.len() - 1))
                .collect();
            prop_assert_eq!(errors, expected);
        }
    }
}
