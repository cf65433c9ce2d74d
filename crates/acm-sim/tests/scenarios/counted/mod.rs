//! Each error is counted once and logged. Events without a change have no effect.
mod clients;
mod ports;
mod queries;
mod responses;
mod shared;
