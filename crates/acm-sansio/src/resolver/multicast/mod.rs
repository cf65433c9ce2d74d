//! The multicast protocol: requests for an address, of this node and of others.
mod incoming_request;
mod request;
mod resolve;
