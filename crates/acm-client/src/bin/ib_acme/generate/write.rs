//! Writes the files.
use super::{addresses, new_file::NewFile, options};
use crate::{
    args::Args,
    output::{Output, strerror},
};
use std::{env, fs, io, os::unix::fs::DirBuilderExt};

/// Writes the requested files, addresses first. Returns the exit status.
pub(crate) fn generate(args: &Args, out: &mut Output) -> io::Result<i32> {
    let mut entered = false;
    if let Some(file) = &args.addr_file {
        if !enter(args, out, file, "address", &mut entered)? {
            return Ok(-1);
        }
        let failed = |error| failure("address", &error);
        let written = NewFile::create(file).map_err(failed).and_then(|new| {
            let (text, ports) = addresses::text(args.with_addresses)?;
            new.replace(&text).map_err(failed).map(|()| ports)
        });
        let ports = match written {
            Ok(ports) => ports,
            Err(why) => {
                out.line(format_args!("{why}"))?;
                return Ok(-1);
            }
        };
        for port in ports.iter().filter(|_| args.verbose) {
            out.line(format_args!("{port}"))?;
        }
    }
    if let Some(file) = &args.opts_file {
        let written = enter(args, out, file, "option", &mut entered)? && put(out, file, "option", &options::text())?;
        return Ok(if written { 0 } else { -1 });
    }
    Ok(0)
}

/// Changes to the directory, once. Returns `false` if that fails.
fn enter(args: &Args, out: &mut Output, file: &str, what: &str, entered: &mut bool) -> io::Result<bool> {
    let dir = &args.dir;
    if args.verbose {
        out.line(format_args!("Generating {dir}/{file}"))?;
    }
    if *entered {
        return Ok(true);
    }
    // The directory usually exists. An error shows in the next step.
    let _ = fs::DirBuilder::new().mode(0o755).create(dir);
    if let Err(error) = env::set_current_dir(dir) {
        out.line(format_args!("Failed to open directory {dir}: {}", text_of(&error)))?;
        out.line(format_args!("{}", failure(what, &error)))?;
        return Ok(false);
    }
    *entered = true;
    Ok(true)
}

/// Writes a file. Returns `false` if that fails.
fn put(out: &mut Output, file: &str, what: &str, text: &str) -> io::Result<bool> {
    if let Err(error) = NewFile::create(file).and_then(|new| new.replace(text)) {
        out.line(format_args!("{}", failure(what, &error)))?;
        return Ok(false);
    }
    Ok(true)
}

fn failure(what: &str, error: &io::Error) -> String {
    format!("Failed to open {what} configuration file: {}", text_of(error))
}

fn text_of(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), strerror)
}
