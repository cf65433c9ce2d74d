//! Subnet administration that moves, is busy, loses its groups, or sends invalid responses.
mod busy;
mod joins;
mod port_changes;
mod responses;
mod shared;
mod window;
