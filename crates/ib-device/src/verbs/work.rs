//! Work request ids: kind, slot and epoch of a work request in one number.

/// The work request of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// The receive of this slot.
    Receive(u32),
    /// The send of this slot.
    Send(u32),
}

impl Work {
    pub(super) fn to_id(self, epoch: u32) -> u64 {
        let (slot, kind) = match self {
            Self::Receive(slot) => (slot, 0),
            Self::Send(slot) => (slot, 1 << 31),
        };
        u64::from(epoch) << 32 | u64::from(slot | kind)
    }

    /// Splits an id into the epoch and the work request.
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    pub(super) const fn from_id(id: u64) -> (u32, Self) {
        let slot = id as u32 & !(1 << 31);
        ((id >> 32) as u32, if id & 1 << 31 == 0 { Self::Receive(slot) } else { Self::Send(slot) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn work_request_survives_its_id(epoch: u32, slot in 0..1u32 << 31, send: bool) {
            let work = if send { Work::Send(slot) } else { Work::Receive(slot) };
            prop_assert_eq!(Work::from_id(work.to_id(epoch)), (epoch, work));
        }
    }
}
