//! Received datagrams: responses that end a lookup, and requests of remote hosts.
mod incoming_request;
mod responses;
