//! `--watch`: the same again and again.
use crate::output::Output;
use core::time::Duration;
use std::{
    io::{self, Write},
    thread,
};

/// Runs it each so many seconds, and prints what it says when that is not what it said before. Ends when nobody reads.
pub(crate) fn watch(seconds: u16, mut run: impl FnMut(&mut Output) -> io::Result<i32>) -> io::Result<i32> {
    let mut before = Vec::new();
    loop {
        let mut out = Output::in_memory();
        run(&mut out)?;
        let said = out.into_bytes();
        if said != before {
            let mut stdout = io::stdout().lock();
            stdout.write_all(&said)?;
            stdout.flush()?;
            before = said;
        }
        thread::sleep(Duration::from_secs(seconds.into()));
    }
}
