//! The usage message for an invalid command line.
use crate::{
    args::{Args, Refusal},
    commands,
};
use clap::CommandFactory;
use std::{
    ffi::OsString,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

/// Prints the error to standard error and the usage to standard output, and returns 1, like rdma-core's ib_acme, but
/// with another text.
pub(crate) fn show(words: &[OsString], refusal: &Refusal) -> ExitCode {
    let program = words.first().map_or("ib_acme".into(), |word| word.to_string_lossy());
    match refusal {
        Refusal::Clap(error) if !error.use_stderr() => {
            // A closed pipe is no error.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Refusal::Clap(error) => match (refusal.unknown_letter(), refusal.letter_without_value()) {
            (Some(letter), _) => eprintln!("{program}: invalid option -- '{letter}'"),
            (_, Some(letter)) => eprintln!("{program}: option requires an argument -- '{letter}'"),
            _ => eprint!("{error}"),
        },
        Refusal::Together => {}
    }
    print_usage(&program);
    ExitCode::FAILURE
}

/// Prints the completion script for a shell, for the name that the program was started by.
pub(crate) fn complete(shell: clap_complete::Shell, words: &[OsString]) -> io::Result<i32> {
    let name = words.first().and_then(|word| Path::new(word).file_name()?.to_str()).unwrap_or("ib_acme");
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut commands::add_to(Args::command()), name, &mut script);
    io::stdout().write_all(&script)?;
    Ok(0)
}

fn print_usage(program: &str) {
    let text = format!(
        "usage 1: {program} [-f FORMAT] [-s ADDRESS] -d ADDRESS [-v] [-c] [-C COUNT] [-S SERVICE]\n         \
         {program} -e [N] | -P [WHICH] [-s ADDRESS] [-S SERVICE]\n         \
         {program} --trace ADDRESS [-s ADDRESS] [-S SERVICE]\n\
         usage 2: {program} -A [FILE] | -O [FILE] [-D DIR] [-V]\n\
         usage 3: {program} vfabric | groups | groups join | groups leave | generate-hosts: with --help\n\n{}",
        Args::command().help_template("{options}").render_help()
    );
    // A closed pipe is no error.
    let _ = io::stdout().write_all(text.as_bytes());
}
