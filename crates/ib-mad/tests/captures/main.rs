//! Captured packets against Wireshark's dissection of them: `testdata/captures`.
#[path = "../common/mod.rs"]
mod common;

mod classes;
mod dissections;
mod fields;
mod segments;
mod wireshark;
