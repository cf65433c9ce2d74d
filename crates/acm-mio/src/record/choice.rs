//! What `--record` may say.
use core::str::FromStr;
use std::path::PathBuf;

/// A file is not cut into smaller ones: each has the options of the core at its beginning.
const SMALLEST: u64 = 16 << 10;
const MOST_FILES: u32 = 1000;

/// What `--record` chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordChoice {
    /// The newest file.
    pub(crate) path: PathBuf,
    /// Bytes of a file, after which another is begun.
    pub(crate) size: u64,
    /// How many files are kept.
    pub(crate) files: u32,
    /// Whether names and IP addresses are replaced.
    pub(crate) masked: bool,
}

impl FromStr for RecordChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(',');
        let path = words.next().filter(|path| !path.is_empty()).ok_or("expected FILE")?;
        let mut choice = Self { path: path.into(), size: 64 << 20, files: 4, masked: false };
        for word in words {
            match word.split_once('=') {
                Some(("size", value)) => {
                    choice.size = bytes(value)
                        .filter(|size| *size >= SMALLEST)
                        .ok_or_else(|| format!("size={value}: expected bytes, from 16K on, such as 64M"))?;
                }
                Some(("files", value)) => {
                    choice.files = value
                        .parse()
                        .ok()
                        .filter(|files| (1..=MOST_FILES).contains(files))
                        .ok_or_else(|| format!("files={value}: expected a number from 1 to {MOST_FILES}"))?;
                }
                Some(("mask", "names")) => choice.masked = true,
                _ => return Err(format!("{word:?}: expected size=BYTES, files=NUMBER or mask=names")),
            }
        }
        Ok(choice)
    }
}

/// `64M` and the like.
fn bytes(text: &str) -> Option<u64> {
    let units = [("K", 10), ("M", 20), ("G", 30)];
    let unit = units.into_iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (number, shift) = unit.unwrap_or((text, 0));
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices() {
        let default = RecordChoice { path: "/x/y".into(), size: 64 << 20, files: 4, masked: false };
        assert_eq!("/x/y".parse(), Ok(default.clone()));
        let of = |size, files| RecordChoice { size, files, ..default.clone() };
        assert_eq!("/x/y,size=1G,files=1".parse(), Ok(of(1 << 30, 1)));
        assert_eq!("/x/y,files=1000,size=16384".parse(), Ok(of(16384, 1000)));
        assert_eq!("/x/y,size=16K,files=2,mask=names".parse(), Ok(RecordChoice { masked: true, ..of(16384, 2) }));
        for bad in [
            "",
            ",size=1M",
            "x,",
            "x,size",
            "x,size=",
            "x,size=1T",
            "x,size=15K",
            "x,size=99999999999G",
            "x,files=0",
            "x,files=1001",
            "x,mask=all",
            "x,mask",
        ] {
            assert!(bad.parse::<RecordChoice>().is_err(), "{bad}");
        }
    }
}
