//! The multicast protocol: requests and responses, lookups and who needs them.
pub(crate) mod answered;
pub(crate) mod group_share;
pub(crate) mod incoming_request;
pub(crate) mod lookup;
pub(crate) mod request;
pub(crate) mod resolve;
pub(crate) mod round_trip;
