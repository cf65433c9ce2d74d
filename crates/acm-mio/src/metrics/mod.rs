//! What the daemon has and has counted, for programs and for people.
//!
//! `families` takes numbers from the core and writes them as OpenMetrics text, `status` writes them for people; `http`
//! is as much of HTTP as a scraper needs; `server` listens and answers, `connection` is one scraper; `ask` is
//! `--status`, which asks a daemon that runs.
mod ask;
mod connection;
mod families;
mod http;
mod server;
mod status;

pub(crate) use ask::run;
pub(crate) use families::{Source, text};
pub(crate) use http::Page;
pub(crate) use server::{Metrics, TOKENS};
pub(crate) use status::text as status_text;
