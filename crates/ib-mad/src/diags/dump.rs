//! Printing of an attribute by its table of lines.
use super::{lines, records};
use crate::{
    AttributeRef, Gid, Lid, Wire as _,
    attribute::Structure,
    code::SmState,
    smp::{NodeDescription, SmInfo},
    wire::{Field, find, read_bits},
};
use core::fmt;

/// Function that prints a number of so many bits.
pub(super) type Show = fn(u64, u32, &mut fmt::Formatter<'_>) -> fmt::Result;

/// A line: its name, the path of its field, and the form of its value.
pub(super) struct Line(pub(super) &'static str, pub(super) &'static str, pub(super) Form);

/// Form of a value.
pub(super) enum Form {
    /// A number.
    Number(Show),
    /// An array: a line for each element, with its index after the name.
    Each(Show),
    /// A key, hidden unless the caller shows keys.
    Key(Show),
    /// A GID.
    Gid,
    /// Text up to the first zero byte.
    Text,
    /// No value: the line is the title of what follows.
    Title,
}

/// Lines of a structure.
pub(super) struct Table {
    /// Name of the structure.
    pub(super) structure: &'static str,
    /// First line, or nothing.
    pub(super) title: &'static str,
    /// Text before each name.
    pub(super) lead: &'static str,
    /// Text after each name.
    pub(super) colon: &'static str,
    /// Column of the values.
    pub(super) column: usize,
    /// Lines before the others.
    pub(super) first: &'static [Line],
    pub(super) lines: &'static [Line],
}

/// An attribute as infiniband-diags prints it, with a line feed after each line.
#[derive(Clone, Copy)]
pub struct Dump<'a> {
    fields: &'static [Field],
    table: &'static Table,
    bytes: &'a [u8],
    keys: bool,
}

impl<'a> AttributeRef<'a> {
    /// Returns the text of infiniband-diags: of smpquery for NodeInfo, NodeDescription, PortInfo, SwitchInfo and
    /// MlnxExtendedPortInfo, of perfquery for counters, of saquery for PathRecord, NodeRecord, McMemberRecord (`saquery
    /// MCMR`), LinkRecord, GuidInfoRecord, SmInfoRecord and SwitchInfoRecord. `None` for other attributes.
    #[must_use]
    pub fn diags(&self) -> Option<Dump<'a>> {
        Dump::new(&self.structure()?, self.as_bytes())
    }
}

impl<'a> Dump<'a> {
    /// Returns the text of the structure at the start of `bytes`; `None` if infiniband-diags does not print it, or if
    /// `bytes` is too short.
    #[must_use]
    pub fn new(structure: &Structure, bytes: &'a [u8]) -> Option<Self> {
        let table = lines::TABLES.iter().chain(records::TABLES).find(|table| table.structure == structure.name)?;
        Some(Self { fields: structure.fields, table, bytes: (structure.cast)(bytes).ok()?, keys: false })
    }

    /// Shows keys, as smpquery does with `--show_keys`. Otherwise the text is `<not displayed>`.
    #[must_use]
    pub const fn show_keys(self) -> Self {
        Self { keys: true, ..self }
    }

    /// Returns the first path that is not in the structure.
    #[cfg(test)]
    pub(super) fn missing(&self) -> Option<&'static str> {
        let values = self.lines().filter(|Line(_, _, form)| !matches!(form, Form::Title));
        values.map(|Line(_, path, _)| *path).find(|path| find(self.fields, path).is_none())
    }

    fn lines(&self) -> impl Iterator<Item = &'static Line> {
        self.table.first.iter().chain(self.table.lines)
    }

    fn name(&self, name: &str, index: Option<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Table { lead, colon, column, .. } = self.table;
        write!(f, "{lead}{name}")?;
        let mut width = name.len() + colon.len();
        if let Some(index) = index {
            write!(f, "{index}")?;
            width += if index < 10 { 1 } else { 2 };
        }
        f.write_str(colon)?;
        (width..*column).try_for_each(|_| f.write_str("."))
    }

    fn number(&self, offset: u32, bits: u32, show: Show, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(read_bits(self.bytes, offset, bits).unwrap_or_default(), bits, f)?;
        f.write_str("\n")
    }

    fn line(&self, line: &Line, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line(name, path, form) = line;
        if let Form::Title = form {
            return writeln!(f, "{}{name}", self.table.lead);
        }
        let (offset, bits) = find(self.fields, path).unwrap_or_default();
        if let Form::Each(show) = form {
            let count = self.fields.iter().find(|field| field.name == *path).map_or(0, |field| field.count);
            let width = bits.checked_div(count).unwrap_or_default();
            return (0..count).try_for_each(|index| {
                self.name(name, Some(index), f)?;
                self.number(offset + index * width, width, *show, f)
            });
        }
        self.name(name, None, f)?;
        let bytes = self.bytes.get(usize::try_from(offset / 8).unwrap_or(usize::MAX)..).unwrap_or_default();
        match form {
            Form::Number(show) | Form::Each(show) => self.number(offset, bits, *show, f),
            Form::Key(show) if self.keys => self.number(offset, bits, *show, f),
            Form::Key(_) => f.write_str("<not displayed>\n"),
            Form::Gid => {
                let gid = Gid::parse(bytes).copied().unwrap_or_default();
                writeln!(f, "{}", core::net::Ipv6Addr::from(gid.get()))
            }
            Form::Text => writeln!(f, "{}", text(bytes)),
            Form::Title => Ok(()),
        }
    }
}

/// Returns the text of a node description up to its first zero byte.
fn text(bytes: &[u8]) -> Printable<'_> {
    let bytes = bytes.get(..size_of::<NodeDescription>()).unwrap_or(bytes);
    Printable(bytes.split(|byte| *byte == 0).next().unwrap_or_default())
}

/// Text in which a byte that cannot be printed is a space.
struct Printable<'a>(&'a [u8]);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = self.0.iter().map(|byte| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { ' ' });
        letters.into_iter().try_for_each(|letter| fmt::Write::write_char(f, letter))
    }
}

impl fmt::Display for Dump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.table.structure == NodeDescription::NAME {
            let text = text(self.bytes);
            write!(f, "Node Description:")?;
            (text.0.len()..32.max(text.0.len() + 1)).try_for_each(|_| f.write_str("."))?;
            return writeln!(f, "{text}");
        }
        f.write_str(self.table.title)?;
        self.lines().try_for_each(|line| self.line(line, f))
    }
}

impl fmt::Debug for Dump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The line that sminfo prints, without a line feed.
///
/// ```
/// use ib_mad::{Lid, diags::SmInfoLine, smp::{PriorityState, SmInfo}, code::SmState};
/// let state = PriorityState::default().with_sm_state(SmState::MASTER);
/// let info = SmInfo { guid: 0x2_c903_00b0_0001.into(), act_count: 1855.into(), priority_state: state, ..SmInfo::default() };
/// let line = "sminfo: sm lid 1 sm guid 0x2c90300b00001, activity count 1855 priority 0 state 3 SMINFO_MASTER";
/// assert_eq!(SmInfoLine(Lid::new(1), &info).to_string(), line);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SmInfoLine<'a>(pub Lid, pub &'a SmInfo);

impl fmt::Display for SmInfoLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(lid, info) = self;
        let (guid, count) = (info.guid.get(), info.act_count.get());
        let (priority, state) = (info.priority_state.priority(), info.priority_state.sm_state());
        let name = match state {
            SmState::NOT_ACTIVE => "SMINFO_NOTACT",
            SmState::DISCOVERING => "SMINFO_DISCOVER",
            SmState::STANDBY => "SMINFO_STANDBY",
            SmState::MASTER => "SMINFO_MASTER",
            _ => "?",
        };
        write!(f, "sminfo: sm lid {} sm guid {guid:#x}, activity count {count} ", lid.get())?;
        write!(f, "priority {priority} state {} {name}", state.get())
    }
}
