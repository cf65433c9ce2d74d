//! Whether systemd starts it, and what is to be done next. Nothing of that is done here.
use super::{InstallError, Place};
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

const UNITS: [&str; 2] = ["acm-mio.socket", "acm-mio.service"];
/// Where `systemctl enable` makes its links, and where an administrator's own units come before all others.
const OWN_UNITS: &str = "/etc/systemd/system";

/// The links that `systemctl enable` made.
pub(super) fn links(place: &Place) -> Result<Vec<PathBuf>, InstallError> {
    let folder = place.real(Path::new(OWN_UNITS));
    let failed = |error| InstallError::io("reading", &folder)(error);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut links = Vec::new();
    for entry in entries {
        // `sockets.target.wants` and its like.
        let wants = entry.map_err(failed)?.path();
        links.extend(UNITS.map(|unit| wants.join(unit)).into_iter().filter(|link| link.is_symlink()));
    }
    links.sort();
    Ok(links)
}

/// Says what an administrator does next.
pub(super) fn after_install(place: &Place) -> Result<(), InstallError> {
    let installed = place.systemd("systemd/system");
    for unit in UNITS.map(|unit| Path::new(OWN_UNITS).join(unit)) {
        let is_another = !unit.starts_with(&installed) && place.real(&unit).exists();
        if is_another {
            println!("{} comes before what was installed: remove it, unless it is meant", unit.display());
        }
    }
    let enable = if links(place)?.is_empty() {
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
        place.command("uninstall")
    );
    Ok(())
}
