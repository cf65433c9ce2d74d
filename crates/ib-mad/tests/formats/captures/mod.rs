//! Comparison of captured packets with Wireshark's dissection: `testdata/captures`.
mod classes;
mod dissections;
mod fields;
#[cfg(feature = "capture")]
mod formats;
mod segments;
mod wireshark;
