//! State and counters of the daemon: OpenMetrics text for scrapers, `--status` for administrators.
//!
//! | file | content |
//! |---|---|
//! | `snapshot` | the content of all pages |
//! | `openmetrics`, `status` | the two pages |
//! | `server`, `connection`, `http` | listening sockets; the connection of a scraper; the part of HTTP that scrapers need |
//! | `query` | `--status`: requests the page of a running daemon |
mod connection;
mod http;
mod openmetrics;
mod query;
mod server;
mod snapshot;
mod status;

pub(crate) use http::Page;
pub(crate) use openmetrics::text;
pub(crate) use query::run;
pub(crate) use server::{Metrics, TOKENS};
pub(crate) use snapshot::{Number, Snapshot};
pub(crate) use status::text as status_text;
