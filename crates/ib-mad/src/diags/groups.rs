//! Lines of `saquery -g` and `saquery -m`.
use super::{dump, records};
use crate::{Wire as _, as_bytes, sa::McMemberRecord, smp::NodeDescription};
use core::fmt;

/// A group as `saquery -g` prints it, with a line feed after each line.
#[derive(Clone, Copy, Debug)]
pub struct GroupLines<'a>(pub &'a McMemberRecord);

impl fmt::Display for GroupLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dump::Dump::with_table(McMemberRecord::FIELDS, &records::GROUP, as_bytes(self.0)).fmt(f)
    }
}

/// A member of a group as `saquery -m` prints it, with a line feed after each line.
///
/// The second value is the description of the member's node, from the NodeRecord with the GUID of the member's port.
#[derive(Clone, Copy, Debug)]
pub struct MemberLines<'a>(pub &'a McMemberRecord, pub Option<&'a NodeDescription>);

impl fmt::Display for MemberLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dump::Dump::with_table(McMemberRecord::FIELDS, &records::MEMBER, as_bytes(self.0)).fmt(f)?;
        f.write_str("\t\tNodeDescription.........")?;
        match self.1 {
            Some(name) => writeln!(f, "{}", dump::text(as_bytes(name))),
            None => f.write_str("<unknown>\n"),
        }
    }
}
