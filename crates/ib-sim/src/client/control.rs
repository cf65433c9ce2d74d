//! Commands to the server.
use super::{error::ClientError, hello::hello};
use crate::proto::{Hello, MAX_MESSAGE, Role};
use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};
use std::{io::Read, path::Path};

/// Sends a command to the server and returns the output, as `ib-sim ctl` does.
///
/// # Errors
/// [`ClientError::Io`] if no server uses the socket.
pub fn control(path: &Path, command: &str) -> Result<String, ClientError> {
    let (socket, _) = hello(path, &Hello::new(Role::CONTROL, 0, ""))?;
    socket.send(command.as_bytes())?;
    let mut output = Vec::new();
    let mut buffer = vec![0; MAX_MESSAGE];
    loop {
        match (&socket).read(&mut buffer)? {
            0 => return Ok(String::from_utf8_lossy(&output).to_string()),
            length => output.extend_from_slice(buffer.get(..length).unwrap_or_default()),
        }
    }
}
