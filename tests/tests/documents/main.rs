//! The documents, and the dissector for Wireshark, against what the programs do.
mod documents;
mod troubleshooting;
mod wireshark;
