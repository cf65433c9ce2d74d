//! State and counters of the daemon: OpenMetrics text for scrapers, `--status` for administrators. The status socket
//! also passes requests of administrators to the daemon.
//!
//! | file | content |
//! |---|---|
//! | `snapshot` | the content of all pages |
//! | `openmetrics`, `status` | the two pages |
//! | `help` | what each metric means |
//! | `server`, `connection`, `http` | listening sockets; the connection of a scraper; the part of HTTP that scrapers need |
//! | `ending` | connections that are over, and that cannot be closed yet |
//! | `textfile` | `--metrics`: a file for node_exporter |
//! | `query` | sends a request to a running daemon; `--status` |
mod connection;
mod ending;
mod help;
mod http;
mod openmetrics;
mod query;
mod server;
mod snapshot;
mod status;
mod textfile;

#[cfg(test)]
pub(crate) use http::{COMMANDS, Command};
pub(crate) use http::{Page, Response};
pub(crate) use openmetrics::{json, text};
pub(crate) use query::{ask, run};
pub(crate) use server::{Asked, Metrics, TOKENS};
pub(crate) use snapshot::{Number, Snapshot};
pub(crate) use status::text as status_text;
pub(crate) use textfile::run as run_metrics;
