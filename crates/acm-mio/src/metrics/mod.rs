//! State and counters of the daemon: OpenMetrics text for scrapers, text and JSON for `acmctl status`. The status socket
//! also passes requests of administrators to the daemon.
//!
//! | file | content |
//! |---|---|
//! | `snapshot` | the content of all pages |
//! | `openmetrics`, `status` | the two pages |
//! | `help` | what each metric means |
//! | `process` | processor time and memory |
//! | `server`, `connection`, `http` | listening sockets; the connection of a scraper; the part of HTTP that scrapers need |
//! | `ending` | connections that are over, and that cannot be closed yet |
mod connection;
mod ending;
mod help;
mod http;
mod openmetrics;
mod process;
mod server;
mod snapshot;
mod status;
mod unix_name;

#[cfg(test)]
pub(crate) use http::{COMMANDS, Command};
pub(crate) use http::{Page, Response};
pub(crate) use openmetrics::{json, text};
pub(crate) use process::numbers as process_numbers;
pub(crate) use server::{Asked, Metrics, STATUS_SOCKET, TOKENS};
pub(crate) use snapshot::{Number, Snapshot};
pub(crate) use status::text as status_text;
pub(crate) use unix_name::check as check_socket;
