//! The daemon. Its code is in the library, which `acmctl` shares.
use std::process::ExitCode;

fn main() -> ExitCode {
    acm_mio::daemon()
}
