//! Who administers the subnet.

/// Who administers the subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SaMode {
    /// The subnet itself.
    #[default]
    Internal,
    /// Somebody outside, through [`Event::SaRequest`](crate::Event::SaRequest) and
    /// [`Subnet::answer_mad`](crate::Subnet::answer_mad). The subnet learns the groups from the answers.
    External,
}
