//! How a request went.
use ib_mad::code;

code! {
    /// How a request went, in the header of its answer.
    pub struct ClientStatus(u8) {
        /// What was asked for is in the answer.
        SUCCESS = 0 "success",
        /// Out of room.
        ENOMEM = 1 "out of memory",
        /// The request is not valid.
        EINVAL = 2 "invalid request",
        /// Nothing is known, or not yet.
        ENODATA = 3 "no data",
        /// Not connected.
        ENOTCONN = 5 "not connected",
        /// No answer came in time.
        ETIMEDOUT = 6 "timed out",
        /// The source address is not ours.
        ESRCADDR = 7 "source address",
        /// The source's type is not supported.
        ESRCTYPE = 8 "source type",
        /// The destination address is missing or given twice.
        EDESTADDR = 9 "destination address",
        /// The destination's type is missing or not supported.
        EDESTTYPE = 10 "destination type",
    }
}

/// [`ResolveAnswer::parse`](super::ResolveAnswer::parse) and its like give it back as an error.
impl core::error::Error for ClientStatus {}
