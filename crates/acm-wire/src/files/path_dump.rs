//! `ibacm_route.data` in the format `opensm_full_v1`: a dump of OpenSM with all paths of a subnet.
//!
//! Each source port has a line, followed by a line for each destination:
//! ```text
//! Channel Adapter 0x0002c90300b00001, base LID 1, "node1 mlx5_0", port 1
//! # LID  : SL : MTU : RATE
//! 0x0002 : 0  : 3   : 3
//! 0x0004 : UNREACHABLE
//! ```
//! The kind is `Channel Adapter`, `Switch` or `Router`. Some writers add `, LMC n` after the base LID and end the line
//! with a bare name. Service level, MTU and rate are IBTA codes.
use super::line::{Fault, LineError, LineErrorKind, Lines, Location, Parsed, blanks, is_blank, token};
use core::fmt;
use ib_mad::{Guid, Lid, Mtu, Rate, ServiceLevel, id::Lmc};
use nom::{
    Parser,
    branch::alt,
    bytes::complete::{tag_no_case, take_while1},
    combinator::{cut, opt, value},
};

/// Returns the entries in the order of the dump.
///
/// A destination belongs to the source before it. If the line of a source is invalid, the destinations after it are
/// left out. For destinations before the first source, one error is returned.
#[must_use]
pub const fn parse(text: &[u8]) -> PathDump<'_> {
    PathDump { lines: Lines::new(text), block: Block::None }
}

/// Entry of a dump: one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A source port, to which the destinations of the next lines belong.
    Source(Source<'a>),
    /// A destination of the last source.
    Destination(Destination),
}

/// A source port of paths.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Source<'a> {
    /// Kind of the port's node.
    pub node: NodeKind,
    /// GUID of the port; for a switch, GUID of the node.
    pub guid: Guid,
    /// First LID of the port.
    pub base_lid: Lid,
    /// LID mask control (the port has 2^LMC LIDs); OpenSM's dumps lack it.
    pub lmc: Option<Lmc>,
    /// Description of the node as in the file: any bytes without a line feed.
    pub description: &'a [u8],
    /// Port number on the node.
    pub port: Option<u8>,
}

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Channel adapter: end node, such as a host.
    ChannelAdapter,
    /// Switch: connects the links of a subnet.
    Switch,
    /// Router: connects subnets.
    Router,
}

/// A destination of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Unicast LID of the destination.
    pub dlid: Lid,
    /// Path to the destination; `None` if the destination is unreachable.
    pub path: Option<Path>,
}

/// Parameters of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Service level of the path, 0 to 15.
    pub sl: ServiceLevel,
    /// MTU of the path, a code of 6 bits.
    pub mtu: Mtu,
    /// Rate of the path, a code of 6 bits.
    pub rate: Rate,
}

/// Iterator over the entries of a dump, from [`parse`].
#[derive(Clone, Debug)]
pub struct PathDump<'a> {
    lines: Lines<'a>,
    block: Block,
}

/// The source to which the next destinations belong.
#[derive(Clone, Copy, Debug)]
enum Block {
    /// No source yet. No error was returned for the missing source.
    None,
    /// No valid source. An error was returned.
    Skipped,
    /// The last source.
    Source,
}

impl<'a> Iterator for PathDump<'a> {
    type Item = Result<(Location, Entry<'a>), LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.lines.next()?;
            if !line.words().first().is_some_and(u8::is_ascii_digit) {
                let source = line.read(source);
                self.block = if source.is_ok() { Block::Source } else { Block::Skipped };
                return Some(source);
            }
            match self.block {
                Block::Source => return Some(line.read(destination)),
                Block::Skipped => {}
                Block::None => {
                    self.block = Block::Skipped;
                    return Some(Err(line.error(line.words(), LineErrorKind::NoSource)));
                }
            }
        }
    }
}

impl core::iter::FusedIterator for PathDump<'_> {}

fn source(input: &[u8]) -> Parsed<'_, Entry<'_>> {
    let kind = |kind, name| value(kind, tag_no_case(name));
    let (rest, node) = alt((
        kind(NodeKind::ChannelAdapter, "Channel Adapter"),
        kind(NodeKind::Switch, "Switch"),
        kind(NodeKind::Router, "Router"),
    ))
    .parse(input)
    .map_err(|_: nom::Err<Fault<'_>>| Fault::expected(input, "Channel Adapter, Switch, Router or a LID in hex"))?;
    let (rest, guid) = field("a port GUID", |text| text.parse().ok()).parse(rest)?;
    let (rest, ()) = keyword(rest, "base LID")?;
    let (rest, base_lid) = field("a LID, 1 to 49151", unicast).parse(rest)?;
    let lmc = field("an LMC, 0 to 7", |text| text.parse().ok().and_then(Lmc::checked));
    let (rest, lmc) = opt((blanks, tag_no_case("LMC"), take_while1(is_blank), cut(lmc)))
        .map(|found| found.map(|(_, _, _, lmc)| lmc))
        .parse(rest)?;
    let (description, port) = description(rest.trim_ascii());
    Ok((&[], Entry::Source(Source { node, guid, base_lid, lmc, description, port })))
}

/// Reads `"description", port N` or a bare description.
fn description(text: &[u8]) -> (&[u8], Option<u8>) {
    let quoted = text.strip_prefix(b"\"").and_then(|text| {
        let end = text.iter().rposition(|byte| *byte == b'"')?;
        Some((text.get(..end)?, text.get(end + 1..)?))
    });
    let Some((description, rest)) = quoted else { return (text, None) };
    let rest = str::from_utf8(rest).unwrap_or_default().trim_start_matches([',', ' ']);
    (description, rest.strip_prefix("port ").and_then(|port| port.trim().parse().ok()))
}

fn destination(input: &[u8]) -> Parsed<'_, Entry<'_>> {
    let (rest, dlid) = number("a LID, 0x0001 to 0xbfff", unicast).parse(input)?;
    let unreachable = value(None, (opt(colon), blanks, tag_no_case("UNREACHABLE")));
    let path = (
        colon,
        number("a service level, 0 to 15", |text| small(text, 15).and_then(ServiceLevel::checked)),
        colon,
        number("an MTU's code, 0 to 63", |text| small(text, 63).map(Mtu::new)),
        colon,
        number("a rate's code, 0 to 63", |text| small(text, 63).map(Rate::new)),
    )
        .map(|(_, sl, _, mtu, _, rate)| Some(Path { sl, mtu, rate }));
    alt((unreachable, path)).map(|path| Entry::Destination(Destination { dlid, path })).parse(rest)
}

fn keyword<'a>(input: &'a [u8], expected: &'static str) -> Parsed<'a, ()> {
    let (rest, ()) = blanks(input)?;
    value((), tag_no_case(expected)).parse(rest).map_err(|_: nom::Err<Fault<'a>>| Fault::expected(rest, expected))
}

fn colon(input: &[u8]) -> Parsed<'_, ()> {
    keyword(input, ":")
}

/// Reads a number that ends at the next blank or colon.
fn number<'a, T>(
    expected: &'static str,
    read: impl Fn(&'a str) -> Option<T>,
) -> impl Parser<&'a [u8], Output = T, Error = Fault<'a>> {
    let read = move |text| read(text).ok_or(LineErrorKind::Bad { expected });
    token(expected, |byte| !is_blank(byte) && byte != b':', read)
}

fn small(text: &str, max: u8) -> Option<u8> {
    text.parse().ok().filter(|code| *code <= max)
}

fn unicast(text: &str) -> Option<Lid> {
    text.parse().ok().filter(|lid: &Lid| lid.is_unicast())
}

/// Reads a word that ends at the next blank or comma, and the comma, with blanks around it.
fn field<'a, T>(
    expected: &'static str,
    read: impl Fn(&'a str) -> Option<T>,
) -> impl Parser<&'a [u8], Output = T, Error = Fault<'a>> {
    let read = move |text| read(text).ok_or(LineErrorKind::Bad { expected });
    let value = token(expected, |byte| !is_blank(byte) && byte != b',', read);
    (value, opt((blanks, tag_no_case(",")))).map(|(value, _)| value)
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ChannelAdapter => "Channel Adapter",
            Self::Switch => "Switch",
            Self::Router => "Router",
        })
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Display for Source<'_> {
    /// Writes a line of a dump. Bytes of the description outside printable ASCII are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, base LID {}", self.node, self.guid, self.base_lid)?;
        if let Some(lmc) = self.lmc {
            write!(f, ", LMC {lmc}")?;
        }
        write!(f, ", \"{}\"", self.description.escape_ascii())?;
        self.port.map_or(Ok(()), |port| write!(f, ", port {port}"))
    }
}
impl fmt::Display for Destination {
    /// Writes a line of a dump.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x} : ", self.dlid.get())?;
        match self.path {
            None => f.write_str("UNREACHABLE"),
            Some(Path { sl, mtu, rate }) => write!(f, "{sl} : {} : {}", mtu.get(), rate.get()),
        }
    }
}
impl fmt::Display for Entry<'_> {
    /// Writes a line that the parser reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(source) => write!(f, "{source}"),
            Self::Destination(destination) => write!(f, "{destination}"),
        }
    }
}

mod sections;
#[cfg(test)]
mod tests;

pub use sections::Sections;
