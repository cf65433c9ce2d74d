//! What `--fabric` may say.
use core::str::FromStr;
use std::path::PathBuf;

/// What `--fabric` chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FabricChoice {
    /// The RDMA devices of this machine.
    Devices,
    /// A simulated fabric in this process.
    Embedded,
    /// A simulated fabric that somebody else serves.
    Sim {
        /// The unix socket that it is served at.
        path: PathBuf,
        /// Which node to be; any free one without.
        node: Option<String>,
    },
}

impl FromStr for FabricChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "devices" => return Ok(Self::Devices),
            "embedded" => return Ok(Self::Embedded),
            _ => {}
        }
        let Some(rest) = text.strip_prefix("sim:") else {
            return Err("expected devices, embedded or sim:PATH?node=NAME".into());
        };
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let node = match query.map(|query| query.strip_prefix("node=")) {
            None => None,
            Some(Some(name)) if !name.is_empty() => Some(name.to_owned()),
            Some(_) => return Err("expected ?node=NAME after the path".into()),
        };
        if path.is_empty() {
            return Err("expected the path of the fabric's socket after sim:".into());
        }
        Ok(Self::Sim { path: PathBuf::from(path), node })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices() {
        let sim = |path: &str, node: Option<&str>| FabricChoice::Sim { path: path.into(), node: node.map(Into::into) };
        assert_eq!("devices".parse(), Ok(FabricChoice::Devices));
        assert_eq!("embedded".parse(), Ok(FabricChoice::Embedded));
        assert_eq!("sim:/tmp/x?node=node2".parse(), Ok(sim("/tmp/x", Some("node2"))));
        assert_eq!("sim:/tmp/x".parse(), Ok(sim("/tmp/x", None)));
        for bad in ["", "sim", "sim:", "sim:?node=a", "sim:/x?", "sim:/x?node=", "sim:/x?nude=a", "devices:"] {
            assert!(bad.parse::<FabricChoice>().is_err(), "{bad}");
        }
    }
}
