//! Partition keys.
use super::from_str_number;
use crate::id;

id! {
    /// Partition key: 15 bits of partition and, on top, the membership bit; 2 bytes (IBTA 3.5.3, 10.9).
    pub struct Pkey(u16), "{:#06x}"
}
from_str_number! { Pkey: u16, "P_Key (0x0001 to 0xffff)"; }

impl Pkey {
    /// The default partition, full member.
    pub const DEFAULT_FULL: Self = Self::new(0xffff);
    /// The default partition, limited member.
    pub const DEFAULT_LIMITED: Self = Self::new(0x7fff);

    /// The partition without the membership bit.
    #[must_use]
    pub const fn partition(self) -> u16 {
        self.get() & 0x7fff
    }

    /// Whether this is the key of a full member.
    #[must_use]
    pub const fn is_full_member(self) -> bool {
        self.get() & 0x8000 != 0
    }

    /// The same partition's key for full members.
    #[must_use]
    pub const fn as_full_member(self) -> Self {
        Self::new(self.get() | 0x8000)
    }

    /// Whether both keys are of one partition, whatever the memberships.
    #[must_use]
    pub const fn same_partition(self, other: Self) -> bool {
        self.partition() == other.partition()
    }

    /// Whether a table entry is a key at all: 0x0000 and 0x8000 are holes.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.partition() != 0
    }

    /// Whether a packet with this key passes a port that holds `table_entry`: one partition, and not both limited.
    #[must_use]
    pub const fn matches(self, table_entry: Self) -> bool {
        self.same_partition(table_entry) && (self.is_full_member() || table_entry.is_full_member())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn membership() {
        let (full, limited) = (Pkey::DEFAULT_FULL, Pkey::DEFAULT_LIMITED);
        assert!(full.same_partition(limited) && full.is_full_member() && !limited.is_full_member());
        assert!(full.matches(limited) && limited.matches(full) && full.matches(full) && !limited.matches(limited));
        assert_eq!(limited.as_full_member(), full);
        assert!(!Pkey::new(0x8000).is_valid() && !Pkey::new(0).is_valid() && Pkey::new(1).is_valid());
    }
}
