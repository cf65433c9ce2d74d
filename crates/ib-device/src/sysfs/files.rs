//! Reads class directories: files with one value each, and directories whose entries are numbers.
use crate::{Error, Result};
use ib_mad::Guid;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A directory whose files are values.
#[derive(Clone, Copy)]
pub(super) struct Dir<'a>(pub(super) &'a Path);

impl Dir<'_> {
    /// Returns the file's text without the line end.
    pub(super) fn text(self, name: &str) -> Result<String> {
        let path = self.0.join(name);
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        Ok(text.trim_end().into())
    }

    /// Returns the file's text; `None` if the file does not exist, as with older kernels and some devices.
    pub(super) fn optional_text(self, name: &str) -> Result<Option<String>> {
        match self.text(name) {
            Ok(text) => Ok(Some(text)),
            // Drivers return EINVAL for an attribute that they do not support.
            Err(Error::File { source, .. })
                if source.kind() == io::ErrorKind::NotFound || source.kind() == io::ErrorKind::InvalidInput =>
            {
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// Returns the file's text as a value.
    pub(super) fn value<T>(self, name: &str, what: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        let text = self.text(name)?;
        parse(&text).ok_or_else(|| Error::Text { path: self.0.join(name), what, text })
    }

    /// Returns the sorted names of the entries. A directory that does not exist has no entries.
    pub(super) fn names(self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(self.0) {
            Ok(entries) => entries,
            Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(Error::file(self.0)(source)),
        };
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(Error::file(self.0))
        };
        let mut names = entries.map(name).collect::<Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    /// Returns the entries that are numbers of this type, in ascending order.
    pub(super) fn numbers<T: core::str::FromStr + Ord>(self) -> Result<Vec<T>> {
        let mut numbers: Vec<T> = self.names()?.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn join(self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Parses a number: decimal, or hexadecimal after `0x`.
pub(super) fn number<T: TryFrom<u64>>(text: &str) -> Option<T> {
    let value = match text.strip_prefix("0x") {
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16),
        _ if text.starts_with('+') => return None,
        _ => text.parse(),
    };
    T::try_from(value.ok()?).ok()
}

/// Parses a GUID of the form `0002:c903:0000:0010`.
pub(super) fn guid(text: &str) -> Option<Guid> {
    text.parse().ok().filter(|_| text.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guid_and_number_accept_only_the_kernels_forms() {
        assert_eq!(guid("0002:c903:0000:0010"), Some(Guid::new(0x0002_c903_0000_0010)));
        for bad in ["", "0002:c903:0000", "0002:c903:0000:0010:0000", "0002:c903:0000:001", "0002:c903:0000:+010"] {
            assert_eq!(guid(bad), None, "{bad}");
        }
        assert_eq!((number::<u16>("0xffff"), number::<u16>("17")), (Some(0xffff), Some(17)));
        assert_eq!((number::<u16>("0x10000"), number::<u8>("-1"), number::<u8>("+1")), (None, None, None));
    }
}
