//! Standard output, and what the system says of an error.
use core::fmt;
use std::{
    env,
    io::{self, BufWriter, IsTerminal, Stdout, Write},
};

/// What a shell shows of a program whose reader is gone: 128 and the number of SIGPIPE.
pub(crate) const BROKEN_PIPE: u8 = 141;

/// Where lines go.
#[derive(Debug)]
pub(crate) struct Output {
    to: To,
    /// Whether somebody looks at it: each line at once, and in colour.
    is_terminal: bool,
}

#[derive(Debug)]
enum To {
    Stdout(BufWriter<Stdout>),
    Memory(Vec<u8>),
}

/// How well something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Good,
    Bad,
    Note,
}

impl Default for Output {
    /// Standard output.
    fn default() -> Self {
        let to = io::stdout();
        let is_terminal = to.is_terminal();
        Self { to: To::Stdout(BufWriter::new(to)), is_terminal }
    }
}

impl Output {
    /// Into memory, as it would be on standard output.
    pub(crate) fn in_memory() -> Self {
        Self { to: To::Memory(Vec::new()), ..Self::default() }
    }

    /// What is in memory.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self.to {
            To::Memory(bytes) => bytes,
            To::Stdout(_) => Vec::new(),
        }
    }

    /// Writes a line.
    ///
    /// # Errors
    /// The reader is gone, or the disk is full.
    pub(crate) fn line(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        match &mut self.to {
            To::Stdout(to) => writeln!(to, "{text}")?,
            To::Memory(bytes) => writeln!(bytes, "{text}")?,
        }
        if self.is_terminal { self.flush() } else { Ok(()) }
    }

    /// Writes a line that begins with a mark, coloured for who looks at it and has not set `NO_COLOR`.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub(crate) fn marked(&mut self, mark: Mark, text: &str) -> io::Result<()> {
        let (word, colour) = match mark {
            Mark::Good => ("ok", 32),
            Mark::Bad => ("FAIL", 31),
            Mark::Note => ("note", 33),
        };
        if self.is_terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) {
            return self.line(format_args!("\x1b[{colour}m{word:<4}\x1b[0m {text}"));
        }
        self.line(format_args!("{word:<4} {text}"))
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Stdout(to) => to.flush(),
            To::Memory(_) => Ok(()),
        }
    }
}

/// How the C library calls an error number: `No data available`.
pub(crate) fn strerror(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    let end = text.rfind(" (os error").unwrap_or(text.len());
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::strerror;

    #[test]
    fn without_its_number() {
        let texts = [0, 2, 61, 99].map(strerror);
        assert_eq!(
            texts,
            ["Success", "No such file or directory", "No data available", "Cannot assign requested address"]
        );
    }
}
