//! What `--interfaces` chose.
use core::str::FromStr;

/// Whose addresses are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InterfaceChoice {
    /// Those of IPoIB interfaces.
    On,
    /// Nobody's: interfaces are not looked at.
    Off,
    /// Those of interfaces whose alias names a port, whatever they are: `infiniband GID [PKEY]`.
    Alias,
}

impl FromStr for InterfaceChoice {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            "alias" => Ok(Self::Alias),
            _ => Err("expected on, off or alias"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices() {
        let parse = |text: &str| text.parse::<InterfaceChoice>();
        let all = [InterfaceChoice::On, InterfaceChoice::Off, InterfaceChoice::Alias];
        assert_eq!(["on", "off", "alias"].map(parse), all.map(Ok));
        assert!(parse("").is_err() && parse("On").is_err());
    }
}
