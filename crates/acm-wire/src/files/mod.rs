//! Text files: options, local addresses, known hosts, path dumps.
//!
//! Each parser is an iterator over the lines that are neither blank nor a comment. Parsers borrow from the text,
//! allocate nothing, and accept lines of any length. An invalid line gives a [`LineError`] with a location; parsing
//! continues with the next line.
//!
//! Rules for all files: lines end with LF or CR LF, and the last line may lack its end. Blanks separate words. A line
//! whose first word begins with `#` is a comment. Words after the last required word are ignored, as in the C ibacm.
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
