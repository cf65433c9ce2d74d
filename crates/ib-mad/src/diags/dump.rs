//! Printing of an attribute by its table of lines.
use super::{records, show};
use crate::{
    AttributeRef, Gid, Lid, Wire as _,
    attribute::Structure,
    code::SmState,
    smp::{NodeDescription, SmInfo},
    wire::{Field, read_bits},
};
use core::fmt;

/// Function that prints a number of so many bits.
pub(super) type Show = fn(u64, u32, &mut fmt::Formatter<'_>) -> fmt::Result;

/// A line: its name, the path of its field, and the form of its value.
pub(super) struct Line(pub(super) &'static str, pub(super) &'static str, pub(super) Form);

/// Lines of a table: `"name" path.of.field: form`. A title has no field.
macro_rules! lines {
    ($($name:literal $($first:ident $(. $rest:ident)*)?: $form:expr),* $(,)?) => {
        &[$($crate::diags::dump::Line($name, concat!($(stringify!($first) $(, ".", stringify!($rest))*)?), $form)),*]
    };
}
pub(super) use lines;

pub(super) const UINT: Form = Form::Number(show::uint);
pub(super) const HEX: Form = Form::Number(show::hex);
pub(super) const UPPER: Form = Form::Number(show::upper);
pub(super) const LOWER: Form = Form::Number(show::lower);
pub(super) const UPPER_BYTES: Form = Form::Number(show::upper_bytes);

/// Form of a value.
pub(super) enum Form {
    /// A number.
    Number(Show),
    /// An array: a line for each element, with its number after the name. The first element has this number.
    Each(u32, Show),
    /// Elements of an array in one line: the first and the number of elements, the path in an element or nothing, the
    /// text between elements.
    Row([u32; 2], &'static str, &'static str, Show),
    /// Bytes: a line for each byte with its number, counted from the number of bytes times the block number at a path.
    Numbered(&'static str, Show),
    /// A key, hidden unless the caller shows keys.
    Key(Show),
    /// A key of any number of bytes, hidden unless the caller shows keys.
    KeyBytes,
    /// A GID.
    Gid,
    /// Text up to the first zero byte.
    Text,
    /// No value: the line is the title of what follows.
    Title,
    /// A structure inside the record, with its own table.
    Part(&'static Table),
    /// The lines for a flag that is set, and those for a flag that is not set.
    Either(&'static [Line], &'static [Line]),
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
    /// Text after the lines.
    pub(super) last: &'static str,
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
    /// MlnxExtendedPortInfo, of perfquery for counters, of saquery for ClassPortInfo and for records of paths, nodes,
    /// ports, groups (`saquery MCMR`), links, GUIDs, subnet managers, switches, virtual lanes, arbitration, linear
    /// forwarding, P_Keys, services and subscriptions. `None` for other attributes.
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
        let table =
            super::lines::TABLES.iter().chain(records::TABLES).find(|table| table.structure == structure.name)?;
        Some(Self { fields: structure.fields, table, bytes: (structure.cast)(bytes).ok()?, keys: false })
    }

    /// Shows keys, as smpquery does with `--show_keys`. Otherwise the text is `<not displayed>`.
    #[must_use]
    pub const fn show_keys(self) -> Self {
        Self { keys: true, ..self }
    }

    /// Returns the text of the structure in `bytes` by a table of its own.
    pub(super) const fn with_table(fields: &'static [Field], table: &'static Table, bytes: &'a [u8]) -> Self {
        Self { fields, table, bytes, keys: false }
    }

    /// Returns the first path that is not in the structure.
    #[cfg(test)]
    pub(super) fn missing(&self) -> Option<&'static str> {
        let values = self.lines().filter(|Line(_, _, form)| !matches!(form, Form::Title));
        values.map(|Line(_, path, _)| *path).find(|path| locate(self.fields, path).is_none())
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
        show(read_bits(self.bytes, offset, bits).unwrap_or_default(), bits, f)
    }

    /// Prints a line for each element of an array.
    fn each(&self, line: &Line, (offset, field): (u32, &Field), f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line(name, _, form) = line;
        match form {
            Form::Each(first, show) => (0..field.count).try_for_each(|index| {
                self.name(name, Some(first + index), f)?;
                self.number(offset + index * field.width(), field.width(), *show, f)?;
                f.write_str("\n")
            }),
            Form::Numbered(block, show) => {
                let (start, count) = (locate(self.fields, block), field.bits / 8);
                let block =
                    start.and_then(|(start, block)| read_bits(self.bytes, start, block.bits)).unwrap_or_default();
                (0..count).try_for_each(|index| {
                    write!(f, "{}{}\t", self.table.lead, block * u64::from(count) + u64::from(index))?;
                    self.number(offset + index * 8, 8, *show, f)?;
                    f.write_str("\n")
                })
            }
            _ => Ok(()),
        }
    }

    fn line(&self, line: &Line, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line(name, path, form) = line;
        if let Form::Title = form {
            return writeln!(f, "{}{name}", self.table.lead);
        }
        let Some((offset, field)) = locate(self.fields, path) else { return Ok(()) };
        let bytes = self.bytes.get(usize::try_from(offset / 8).unwrap_or(usize::MAX)..).unwrap_or_default();
        match form {
            Form::Part(table) => {
                return fmt::Display::fmt(&Dump { fields: field.parts, table, bytes, keys: self.keys }, f);
            }
            Form::Either(set, clear) => {
                let is_set = read_bits(self.bytes, offset, field.bits) != Some(0);
                return (if is_set { set } else { clear }).iter().try_for_each(|line| self.line(line, f));
            }
            Form::Each(..) | Form::Numbered(..) => return self.each(line, (offset, field), f),
            Form::Row(..) => write!(f, "{}{name}", self.table.lead)?,
            _ => self.name(name, None, f)?,
        }
        match form {
            Form::Key(_) | Form::KeyBytes if !self.keys => f.write_str("<not displayed>")?,
            Form::Number(show) | Form::Key(show) => self.number(offset, field.bits, *show, f)?,
            Form::KeyBytes => {
                f.write_str("0x")?;
                let len = usize::try_from(field.bits / 8).unwrap_or_default();
                bytes.iter().take(len).try_for_each(|byte| write!(f, "{byte:02x}"))?;
            }
            Form::Row([first, count], part, between, show) => {
                let width = field.width();
                let (inner, bits) = locate(field.parts, part).map_or((0, width), |(inner, part)| (inner, part.bits));
                for index in *first..first + count {
                    f.write_str(if index == *first { "" } else { between })?;
                    self.number(offset + index * width + inner, bits, *show, f)?;
                }
            }
            Form::Gid => {
                let gid = Gid::parse(bytes).copied().unwrap_or_default();
                write!(f, "{}", core::net::Ipv6Addr::from(gid.get()))?;
            }
            _ => write!(f, "{}", text(bytes))?,
        }
        f.write_str("\n")
    }
}

/// Finds a field by its path, with its first bit in the structure.
fn locate(fields: &'static [Field], path: &str) -> Option<(u32, &'static Field)> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let field = fields.iter().find(|field| field.name == first)?;
    let Some(rest) = rest else { return Some((field.bit_offset, field)) };
    locate(field.parts, rest).map(|(inner, part)| (field.bit_offset + inner, part))
}

/// Returns the text of a name up to its first zero byte.
pub(super) fn text(bytes: &[u8]) -> Printable<'_> {
    let bytes = bytes.get(..size_of::<NodeDescription>()).unwrap_or(bytes);
    Printable(bytes.split(|byte| *byte == 0).next().unwrap_or_default())
}

/// Text in which a byte that cannot be printed is a space.
pub(super) struct Printable<'a>(&'a [u8]);

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
        self.lines().try_for_each(|line| self.line(line, f))?;
        f.write_str(self.table.last)
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
