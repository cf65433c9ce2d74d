//! Comparison of the documents, and of the dissector for Wireshark, with the programs.
mod deadlines;
mod documents;
mod omni_path;
mod troubleshooting;
mod wireshark;
