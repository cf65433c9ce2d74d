//! Captured packets against Wireshark's dissection of them: `testdata/captures`.
mod classes;
mod dissections;
mod fields;
mod segments;
mod wireshark;
