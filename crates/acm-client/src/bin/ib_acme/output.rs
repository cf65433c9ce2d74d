//! Standard output, and what the system says of an error.
use core::fmt;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

/// Standard output. A terminal has each line at once.
#[derive(Debug)]
pub(crate) struct Output {
    to: BufWriter<Stdout>,
    at_once: bool,
}

impl Default for Output {
    fn default() -> Self {
        let to = io::stdout();
        let at_once = to.is_terminal();
        Self { to: BufWriter::new(to), at_once }
    }
}

impl Output {
    /// Writes a line.
    ///
    /// # Errors
    /// The reader is gone, or the disk is full.
    pub(crate) fn line(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        writeln!(self.to, "{text}")?;
        if self.at_once { self.to.flush() } else { Ok(()) }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
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
