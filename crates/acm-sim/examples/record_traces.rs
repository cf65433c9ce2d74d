//! Writes the trace of every session into `FOLDER`, by default `testdata/traces` of the repository:
//! `cargo run -p acm-sim --example record_traces [FOLDER]`.
use acm_sim::sessions::SESSIONS;
use core::error::Error;
use std::{env, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/traces");
    let folder = env::args_os().nth(1).map_or_else(|| PathBuf::from(default), PathBuf::from);
    for session in SESSIONS {
        let trace = session.trace();
        let file = folder.join(format!("{}.pcapng", session.name));
        println!("{} ({} bytes): {}", file.display(), trace.len(), session.description);
        fs::write(file, trace)?;
    }
    Ok(())
}
