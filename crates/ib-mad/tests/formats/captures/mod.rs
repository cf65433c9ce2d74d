//! Comparison of captured packets with Wireshark's dissection: `testdata/captures`.
mod classes;
mod dissections;
mod fields;
mod segments;
mod wireshark;
