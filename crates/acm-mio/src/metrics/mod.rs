//! State and counters of the daemon: OpenMetrics text for scrapers, `--status` for administrators.
//!
//! | file | content |
//! |---|---|
//! | `snapshot` | everything that a page shows |
//! | `openmetrics`, `status` | the two pages |
//! | `server`, `connection`, `http` | listens and responds: its sockets, one scraper, as much of HTTP as a scraper needs |
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
