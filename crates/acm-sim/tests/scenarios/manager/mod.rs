//! Subnet administration that moves, is busy, forgets its groups, or answers nonsense.
mod answers;
mod busy;
mod joins;
mod moves;
mod shared;
mod window;
