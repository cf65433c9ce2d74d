#![doc = include_str!("../README.md")]
#![warn(missing_debug_implementations)]
mod daemon;
mod objects;

pub use daemon::{
    Response, SaRequest, allocated_sa_requests, exhaust_sa_requests, lines, refuse_sa_requests, response, responses,
    sa_requests,
};
pub use objects::{endpoint, port, request};
