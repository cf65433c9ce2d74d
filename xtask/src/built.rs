//! What a build makes.
use crate::command;
use cargo_metadata::{Artifact, Message};
use std::{
    io::{self, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

/// Says what is built, builds it, and gives the program; nothing if it cannot be built, which the compiler has said.
pub(crate) fn program(cargo: &mut Command) -> io::Result<Option<PathBuf>> {
    built(cargo, |artifact| artifact.executable.map(Into::into))
}

/// The same for a library: the folder that has the file of this name.
pub(crate) fn library(cargo: &mut Command, name: &str) -> io::Result<Option<PathBuf>> {
    built(cargo, |artifact| {
        let file = artifact.filenames.into_iter().find(|file| file.file_name() == Some(name))?;
        file.parent().map(Into::into)
    })
}

fn built(cargo: &mut Command, wanted: impl Fn(Artifact) -> Option<PathBuf>) -> io::Result<Option<PathBuf>> {
    println!("$ {}", command::line(cargo));
    cargo.arg("--message-format=json-render-diagnostics");
    let mut build = cargo.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut found = None;
    if let Some(messages) = build.stdout.take() {
        for message in Message::parse_stream(BufReader::new(messages)) {
            if let Message::CompilerArtifact(artifact) = message? {
                found = wanted(artifact).or(found);
            }
        }
    }
    let is_built = build.wait()?.success();
    Ok(found.filter(|_| is_built))
}
