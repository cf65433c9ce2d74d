//! Replays all traces of a directory, for the CI of a project: `cargo run -p acm-trace --example in_ci --
//! testdata/traces`.
use acm_trace::{Replay, ReplayError};
use core::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("usage: in_ci FOLDER")?;
    let mut differ = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "pcapng") {
            continue;
        }
        match Replay::default().run(fs::read(&path)?.as_slice()) {
            Ok(done) => println!("{}: {} inputs as recorded", path.display(), done.inputs),
            Err(ReplayError::Differs(difference)) => {
                differ += 1;
                println!("{}: {difference}", path.display());
            }
            Err(ReplayError::Trace(error)) => return Err(error.into()),
        }
    }
    if differ == 0 { Ok(()) } else { Err(format!("{differ} traces differ").into()) }
}
