//! Partition keys (P_Keys): the partition and the kind of membership.
use crate::id;
use crate::wire::from_str_number;

id! {
    /// Partition key, 2 bytes: 15 bits of partition, and the membership bit on top (IBTA 3.5.3, 10.9).
    pub struct Pkey(u16), "{:#06x}"
}
from_str_number! { Pkey: u16, "P_Key (0x0001 to 0xffff)"; }

impl Pkey {
    /// Key of full members of the default partition.
    pub const DEFAULT_FULL: Self = Self::new(0xffff);
    /// Key of limited members of the default partition.
    pub const DEFAULT_LIMITED: Self = Self::new(0x7fff);

    /// Returns the partition without the membership bit.
    #[must_use]
    pub const fn partition(self) -> u16 {
        self.get() & 0x7fff
    }

    /// True if this is the key of a full member.
    #[must_use]
    pub const fn is_full_member(self) -> bool {
        self.get() & 0x8000 != 0
    }

    /// Returns the key of full members of the same partition.
    #[must_use]
    pub const fn as_full_member(self) -> Self {
        Self::new(self.get() | 0x8000)
    }

    /// True if both keys name the same partition, whatever the memberships are.
    #[must_use]
    pub const fn same_partition(self, other: Self) -> bool {
        self.partition() == other.partition()
    }

    /// True if a table entry is a key; 0x0000 and 0x8000 mark unused entries.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.partition() != 0
    }

    /// True if a port with `table_entry` accepts a packet with this key: the same partition, and at most one limited
    /// member.
    #[must_use]
    pub const fn matches(self, table_entry: Self) -> bool {
        self.same_partition(table_entry) && (self.is_full_member() || table_entry.is_full_member())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_match_in_one_partition_unless_both_are_limited() {
        let (full, limited) = (Pkey::DEFAULT_FULL, Pkey::DEFAULT_LIMITED);
        assert!(full.same_partition(limited) && full.is_full_member() && !limited.is_full_member());
        assert!(full.matches(limited) && limited.matches(full) && full.matches(full) && !limited.matches(limited));
        assert_eq!(limited.as_full_member(), full);
        assert!(!Pkey::new(0x8000).is_valid() && !Pkey::new(0).is_valid() && Pkey::new(1).is_valid());
    }
}
