//! The text files: options, local addresses, known hosts, path dumps.
//!
//! Every parser is an iterator over the lines that say something. It borrows from the text, allocates nothing, and has no
//! limit on the length of a line. A line that is wrong becomes a [`LineError`] with its place, and the next line is read
//! as if it had not been there; the caller reports it.
//!
//! What holds for all of them: lines end with LF or CR LF, the last one may lack it; words stand apart by any blanks; a
//! line whose first word begins with `#` is a comment; words after the last one that is needed are ignored, as C ibacm
//! ignores them.
//!
//! | module | file |
//! |---|---|
//! | [`opts`] | `ibacm_opts.cfg` |
//! | [`addr`] | `ibacm_addr.cfg` |
//! | [`hosts`] | `ibacm_hosts.data`, format `acm_hosts` |
//! | [`path_dump`] | `ibacm_route.data`, format `opensm_full_v1` |
pub mod addr;
#[cfg(test)]
mod fuzz;
pub mod hosts;
mod line;
mod opt_value;
pub mod opts;
pub mod path_dump;
mod service_ids;

pub use line::{Entries, LineError, LineErrorKind, Location};
pub use service_ids::{ServiceIdList, ServiceIds};
