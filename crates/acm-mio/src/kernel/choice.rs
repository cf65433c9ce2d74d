//! What `--kernel` chose.
use core::str::FromStr;

/// What `--kernel` chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelChoice {
    /// Answer the kernel.
    On,
    /// Leave it alone.
    Off,
    /// Answer whoever asks in the kernel's place, too. Only a program with CAP_NET_ADMIN can.
    Any,
}

impl FromStr for KernelChoice {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            "any" => Ok(Self::Any),
            _ => Err("expected on, off or any"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices() {
        let parse = |text: &str| text.parse::<KernelChoice>();
        assert_eq!(
            ["on", "off", "any"].map(parse),
            [Ok(KernelChoice::On), Ok(KernelChoice::Off), Ok(KernelChoice::Any)]
        );
        assert!(parse("").is_err() && parse("On").is_err());
    }
}
