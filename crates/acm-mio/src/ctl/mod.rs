//! `acmctl`: shows, checks and controls a running daemon.
//!
//! | file | content |
//! |---|---|
//! | `commands` | the command line, and the program |
//! | `ask` | sends a request to a running daemon, and parses the response |
//! | `age` | durations as people write them |
//! | `status`, `verdict` | `status` and `wait-ready`: the numbers of the daemon, and what is wrong |
//! | `cache`, `table` | `explain`, `cache list` and `cache flush` |
//! | `config`, `record`, `reload`, `metrics` | the commands of these names |
//! | `man` | manual page and completions |
mod age;
mod ask;
mod cache;
mod commands;
mod config;
#[cfg(test)]
mod man;
mod metrics;
mod record;
mod reload;
mod status;
mod table;
mod verdict;

pub(crate) use commands::main;
