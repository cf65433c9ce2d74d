//! The control program. Its code is in the library, which the daemon shares.
use std::process::ExitCode;

fn main() -> ExitCode {
    acm_mio::acmctl()
}
