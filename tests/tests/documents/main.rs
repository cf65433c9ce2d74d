//! Comparison of the documents, and of the dissector for Wireshark, with the programs.
mod documents;
mod troubleshooting;
mod wireshark;
