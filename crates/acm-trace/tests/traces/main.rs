//! Traces: recorded, read, damaged, replayed, and the program `acm-replay`.
mod cli;
mod common;
mod damage;
mod planted;
mod recorder;
mod replay;
mod round_trip;
mod spans;
