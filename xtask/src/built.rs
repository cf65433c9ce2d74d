//! The program that a build makes.
use crate::command;
use cargo_metadata::Message;
use std::{
    io::{self, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

/// Says what is built, builds it, and gives the program; nothing if it cannot be built, which the compiler has said.
pub(crate) fn program(cargo: &mut Command) -> io::Result<Option<PathBuf>> {
    println!("$ {}", command::line(cargo));
    cargo.arg("--message-format=json-render-diagnostics");
    let mut build = cargo.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut program = None;
    if let Some(messages) = build.stdout.take() {
        for message in Message::parse_stream(BufReader::new(messages)) {
            if let Message::CompilerArtifact(artifact) = message?
                && let Some(executable) = artifact.executable
            {
                program = Some(executable.into());
            }
        }
    }
    let is_built = build.wait()?.success();
    Ok(program.filter(|_| is_built))
}
