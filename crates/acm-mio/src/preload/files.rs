//! The preload files that the options name.
use acm_sansio::preload::{Hosts, Preload, Routes};
use acm_wire::files::opts::{AddrPreload, Options, RoutePreload};
use std::path::{Path, PathBuf};

/// Paths of the preload files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) routes: Option<PathBuf>,
    pub(crate) hosts: Option<PathBuf>,
}

impl Files {
    /// Returns the files of the options. Relative paths begin at the directory in which the daemon was started.
    pub(crate) fn new(options: &Options<'_>, start_dir: &Path) -> Self {
        let file = |path: &str| Some(start_dir.join(path));
        Self {
            routes: match options.route_preload {
                RoutePreload::None => None,
                RoutePreload::OpenSmFullV1 => file(options.route_data_file),
            },
            hosts: match options.addr_preload {
                AddrPreload::None => None,
                AddrPreload::AcmHosts => file(options.addr_data_file),
            },
        }
    }
}

/// Returns an empty table for each file that the options do not name.
pub(crate) fn empty_tables(files: &Files) -> impl Iterator<Item = Preload> {
    let routes = files.routes.is_none().then(|| Preload::Routes(Routes::builder().finish().into()));
    let hosts = files.hosts.is_none().then(|| Preload::Hosts(Hosts::default().into()));
    routes.into_iter().chain(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_begin_at_the_start_directory() {
        let (route_preload, addr_preload) = (RoutePreload::OpenSmFullV1, AddrPreload::AcmHosts);
        let off = Options { route_data_file: "dump", addr_data_file: "/etc/hosts", ..Options::default() };
        let on = Options { route_preload, addr_preload, ..off };
        let start = Path::new("/start");
        let both = Files { routes: Some("/start/dump".into()), hosts: Some("/etc/hosts".into()) };
        assert_eq!(Files::new(&on, start), both);
        let one = Files { hosts: None, ..both };
        assert_eq!(Files::new(&Options { addr_preload: AddrPreload::None, ..on }, start), one);
        assert_eq!(Files::new(&off, start), Files::default());
    }

    #[test]
    fn each_file_that_is_not_named_has_an_empty_table() {
        let both = Files { routes: Some("dump".into()), hosts: Some("hosts".into()) };
        let kinds = |files: &Files| -> Vec<bool> {
            empty_tables(files).map(|table| matches!(table, Preload::Routes(_))).collect()
        };
        assert_eq!((kinds(&both), kinds(&Files::default())), (vec![], vec![true, false]));
    }
}
