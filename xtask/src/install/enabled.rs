//! Finds the units that systemd starts, and prints the next steps. Starts and enables nothing.
use super::{Destination, InstallError};
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

const UNITS: [&str; 2] = ["acm-mio.socket", "acm-mio.service"];
/// The directory of the links that `systemctl enable` makes. Units in it hide those in other directories.
const OWN_UNITS: &str = "/etc/systemd/system";

/// The links that `systemctl enable` has made.
pub(super) fn links(destination: &Destination) -> Result<Vec<PathBuf>, InstallError> {
    let folder = destination.real(Path::new(OWN_UNITS));
    let failed = |error| InstallError::io("reading", &folder)(error);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut links = Vec::new();
    for entry in entries {
        // For instance `sockets.target.wants`.
        let wants = entry.map_err(failed)?.path();
        links.extend(UNITS.map(|unit| wants.join(unit)).into_iter().filter(|link| link.is_symlink()));
    }
    links.sort();
    Ok(links)
}

/// Prints the next steps of an administrator.
pub(super) fn after_install(destination: &Destination) -> Result<(), InstallError> {
    let installed = destination.systemd("systemd/system");
    for unit in UNITS.map(|unit| Path::new(OWN_UNITS).join(unit)) {
        let is_another = !unit.starts_with(&installed) && destination.real(&unit).exists();
        if is_another {
            println!("{} comes before what was installed: remove it, unless it is meant", unit.display());
        }
    }
    let enable = if links(destination)?.is_empty() {
        "  systemctl disable --now ibacm.socket ibacm.service   # if ibacm is there
  systemctl enable --now acm-mio.socket acm-mio.service"
    } else {
        "  systemctl restart acm-mio.service"
    };
    println!(
        "Nothing was started or enabled. Next, as root (docs/hardware.md says more, and the way back):
  systemd-sysusers acm-mio.conf
  systemctl daemon-reload
  ldconfig
{enable}
To take it away: {}",
        destination.command("uninstall")
    );
    Ok(())
}
