//! The port that asks subnet administration.
use acm_client::fabric::{Administration, FabricError, LocalPort};
use core::time::Duration;

/// Which port asks.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Local {
    /// The device whose port asks subnet administration; without it the first with an active port.
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// The number of that port; without it the first that is active.
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u8>,
    /// How long each of four sends of a question to subnet administration waits for the answer.
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) timeout: u16,
}

impl Local {
    pub(crate) fn administration(&self) -> Result<Administration, FabricError> {
        let port = LocalPort::find(self.device.as_deref(), self.port)?;
        Ok(Administration::open(port)?.with_timeout(Duration::from_millis(self.timeout.into())))
    }
}
