//! Reading of a dump in pieces. Only the destinations of selected sources are parsed.
use super::{
    super::line::{Line, LineError, LineErrorKind, Location, is_blank},
    Entry, Source, destination, source,
};
use memchr::{memchr, memchr_iter};

/// Reader of a dump that is too large for memory.
///
/// ```
/// use acm_wire::files::path_dump::{Entry, Sections};
/// let dump = b"Switch 0x1, base LID 1\n0x0002 : 0 : 3 : 3\nSwitch 0x2, base LID 2\n0x0001 : 1 : 4 : 3\n";
/// let (mut sections, mut seen) = (Sections::default(), Vec::new());
/// for piece in dump.split_inclusive(|byte| *byte == b'\n') {
///     sections.read(piece, |source| source.base_lid.get() == 2, |found| seen.push(found.unwrap().1.to_string()));
/// }
/// assert_eq!(seen.len(), 3, "both sources, and the second one's destination");
/// assert_eq!(seen[2], "0x0001 : 1 : 4 : 3");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sections {
    /// Number of lines that were read.
    lines: u32,
    block: Block,
}

/// The source to which the next destinations belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Block {
    /// No source yet. No error was reported for the missing source.
    #[default]
    None,
    /// A source that is not selected, an invalid source, or a missing source that was reported.
    Skipped,
    /// A selected source.
    Selected,
}

impl Sections {
    /// Reads the next piece of the dump, which consists of whole lines. The last line of the dump may lack its end.
    ///
    /// Calls `report` with each source, with the destinations of the sources that `select` accepts, and with the error
    /// of each invalid line, in the order of the dump. Destinations of other sources are skipped without checks. All
    /// other results equal those of [`parse`](super::parse).
    pub fn read<'a>(
        &mut self,
        piece: &'a [u8],
        mut select: impl FnMut(&Source<'a>) -> bool,
        mut report: impl FnMut(Result<(Location, Entry<'a>), LineError>),
    ) {
        let mut rest = piece;
        loop {
            if self.block == Block::Skipped {
                rest = self.skip(rest);
            }
            if rest.is_empty() {
                return;
            }
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let (text, behind) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            rest = behind.get(1..).unwrap_or_default();
            self.lines = self.lines.saturating_add(1);
            let line = Line::new(text, self.lines);
            match line.words().first() {
                None | Some(b'#') => {}
                Some(first) if first.is_ascii_digit() => self.destination(line, &mut report),
                Some(_) => {
                    let found = line.read(source);
                    self.block = match &found {
                        Ok((_, Entry::Source(source))) if select(source) => Block::Selected,
                        _ => Block::Skipped,
                    };
                    report(found);
                }
            }
        }
    }

    fn destination<'a>(&mut self, line: Line<'a>, report: &mut impl FnMut(Result<(Location, Entry<'a>), LineError>)) {
        match self.block {
            Block::Selected => report(line.read(destination)),
            Block::Skipped => {}
            Block::None => {
                self.block = Block::Skipped;
                report(Err(line.error(line.words(), LineErrorKind::NoSource)));
            }
        }
    }

    /// Skips lines that cannot be a source. Returns the rest, which is empty or begins with a line that may be a
    /// source.
    fn skip<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
        let (mut start, mut lines) = (0, 0_u32);
        let mut left = None;
        for end in memchr_iter(b'\n', text) {
            if may_be_source(text, start) {
                left = text.get(start..);
                break;
            }
            start = end + 1;
            lines = lines.saturating_add(1);
        }
        let left = left.unwrap_or_else(|| {
            let last = text.get(start..).unwrap_or_default();
            if last.is_empty() || may_be_source(text, start) {
                return last;
            }
            lines = lines.saturating_add(1);
            &[]
        });
        self.lines = self.lines.saturating_add(lines);
        left
    }
}

/// True if the line at `start` may be a source: its first word is neither a number nor a comment.
fn may_be_source(text: &[u8], start: usize) -> bool {
    match text.get(start) {
        None | Some(b'\n' | b'#' | b'0'..=b'9') => false,
        Some(first) if is_blank(*first) => {
            let line = text.get(start..).unwrap_or_default();
            let word = line.iter().find(|byte| !is_blank(**byte));
            !matches!(word, None | Some(b'\n' | b'#' | b'0'..=b'9'))
        }
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::files::path_dump::parse;
    use ib_mad::Lid;
    use proptest::prelude::*;
    use std::{string::String, vec::Vec};

    type Seen<'a> = Vec<Result<(Location, Entry<'a>), LineError>>;

    fn is_selected(source: &Source<'_>) -> bool {
        source.guid.get().is_multiple_of(2)
    }

    /// Returns the results of a text that is read in pieces of these numbers of lines, and the number of lines.
    fn in_pieces(text: &[u8], lines: &[usize]) -> (Seen<'static>, u32) {
        let text: &'static [u8] = Vec::from(text).leak();
        let (mut sections, mut seen, mut rest) = (Sections::default(), Vec::new(), text);
        for lines in lines.iter().copied().chain([usize::MAX]) {
            let end = memchr_iter(b'\n', rest).nth(lines).map_or(rest.len(), |end| end + 1);
            let (piece, behind) = rest.split_at(end);
            sections.read(piece, is_selected, |found| seen.push(found));
            rest = behind;
        }
        (seen, sections.lines)
    }

    /// Returns the results of `parse` without the destinations of sources that are not selected.
    fn filtered(text: &[u8]) -> Seen<'_> {
        let (mut selected, mut any) = (false, false);
        let of_source = |error: &LineError| {
            let line = text.split(|byte| *byte == b'\n').nth(error.line as usize - 1).unwrap();
            line.iter().find(|byte| !is_blank(**byte)).is_some_and(|first| !first.is_ascii_digit())
        };
        parse(text)
            .filter(|found| {
                let source = match found {
                    Ok((_, Entry::Source(source))) => Some(is_selected(source)),
                    Err(error) if of_source(error) => Some(false),
                    _ => None,
                };
                if let Some(source) = source {
                    (selected, any) = (source, true);
                }
                source.is_some() || selected || !any
            })
            .collect()
    }

    #[test]
    fn lines_of_other_sources_are_counted_but_not_parsed() {
        let text = "\r\n0x9 : 0 : 4 : 3\nSwitch 0x1, base LID 1\nrubbish\n 0x2 : 0 : 4 : 3\r\n\t# note\n0x3 : bad\n\n \
                    router 0x4, base LID 4\r\n#\n\t0x1 : 0 : 4 : 3\r\n0x2 : bad\nSwitch 0x5, base LID 5\n1 : x";
        let (seen, lines) = in_pieces(text.as_bytes(), &[3, 0, 1]);
        let reported: Vec<String> = seen
            .iter()
            .map(|found| match found {
                Ok((at, entry)) => std::format!("{} {entry}", at.line),
                Err(error) => std::format!("{} wrong", error.line),
            })
            .collect();
        assert_eq!(reported[..3], ["2 wrong", "3 Switch 0x0000000000000001, base LID 1, \"\"", "4 wrong"]);
        assert_eq!(reported[3..5], ["9 Router 0x0000000000000004, base LID 4, \"\"", "11 0x0001 : 0 : 4 : 3"]);
        assert_eq!(reported[5..], ["12 wrong", "13 Switch 0x0000000000000005, base LID 5, \"\""]);
        assert_eq!(lines, 14);
    }

    #[test]
    fn selected_source_of_the_sample_has_all_its_destinations() {
        let text = include_bytes!("../../../testdata/27port.opensm_full_v1");
        let mut routes = 0;
        Sections::default().read(
            text,
            |source| source.base_lid == Lid::new(3),
            |found| routes += usize::from(matches!(found, Ok((_, Entry::Destination(_))))),
        );
        assert_eq!(routes, 27);
    }

    fn lines() -> impl Strategy<Value = String> {
        let source =
            "[ \t]{0,2}(Switch|channel adapter|Router) 0x[0-9a-f]{1,3}(,| ,)? base LID [0-9]{1,2}( x, port 1)?";
        let line = prop_oneof![
            2 => source.prop_map(String::from),
            6 => "[ \t]{0,2}0x[0-9a-fA-F]{1,4} ?: ?(UNREACHABLE|[0-9]{1,2} : [0-9] : [0-9])",
            1 => "[ \t]{0,2}(#|# Switch)?",
            1 => "[ -~\t]{0,12}",
        ];
        let line = (line, "\r?").prop_map(|(line, end)| line + &end);
        proptest::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn pieces_give_the_results_of_the_whole_text(
            text in lines(),
            end in "\n?",
            pieces in proptest::collection::vec(0_usize..9, 0..9),
        ) {
            let text = text + &end;
            let (seen, lines) = in_pieces(text.as_bytes(), &pieces);
            prop_assert_eq!(seen, filtered(text.as_bytes()));
            prop_assert_eq!(lines as usize, text.lines().count());
        }

        #[test]
        fn any_bytes_give_the_results_of_the_whole_text(
            text in proptest::collection::vec(any::<u8>(), 0..300),
            pieces in any::<[u8; 4]>(),
        ) {
            let (seen, _) = in_pieces(&text, &pieces.map(usize::from));
            prop_assert_eq!(seen, filtered(&text));
        }
    }
}
