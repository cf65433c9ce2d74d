//! The multicast protocol: lookups of addresses, and the requests of remote hosts.
mod incoming_request;
mod resolve;
mod waiters;
