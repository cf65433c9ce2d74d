//! `acmctl`: shows, checks and controls a running daemon.
//!
//! | file | content |
//! |---|---|
//! | `commands` | the command line, and the program |
//! | `ask` | sends a request to a running daemon, and parses the response |
//! | `age` | durations as people write them |
//! | `status`, `verdict`, `watch` | `status` and `wait-ready`: the numbers of the daemon, and what is wrong |
//! | `as_service` | `check --as-service` |
//! | `cache`, `table` | `explain`, `cache list` and `cache flush` |
//! | `config`, `log_level`, `record`, `reload`, `metrics` | the commands of these names |
//! | `bundle`, `mask` | `bundle`: a file for a bug report, without names and IP addresses |
//! | `fleet` | `fleet`: compares the outputs of many nodes |
//! | `columns` | columns of text |
//! | `man` | manual page and completions |
mod age;
mod as_service;
mod ask;
mod bundle;
mod cache;
mod columns;
mod commands;
mod config;
mod fleet;
mod log_level;
#[cfg(test)]
mod man;
mod mask;
mod metrics;
mod record;
mod reload;
mod status;
mod table;
mod verdict;
mod watch;

pub(crate) use commands::main;
