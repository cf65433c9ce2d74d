//! Preload files: their kind, their faults, and their content for this node.
use super::report::Report;
use crate::{
    preload::{self, Faults, Files, ReadError},
    regular,
};
use ib_mad::{Guid, Lid};
use std::{fs::File, io, io::Read, path::Path};

/// Reads the files as the daemon would, for these active ports.
pub(super) fn preload(files: &Files, ports: &[(Guid, Lid)], report: &mut Report) {
    if let Some(path) = &files.routes {
        routes(path, ports, report);
    }
    if let Some(path) = &files.hosts {
        hosts(path, report);
    }
}

type Reading<T> = fn(io::Take<File>, &mut Faults) -> Result<T, ReadError>;

/// Reads the current content of the file.
fn read<T>(
    path: &Path,
    faults: &mut Faults,
    read: impl Fn(io::Take<File>, &mut Faults) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let (file, metadata) = regular::open(path)?;
    read(file.take(metadata.len()), faults)
}

fn routes(path: &Path, ports: &[(Guid, Lid)], report: &mut Report) {
    let (name, mut faults) = (format!("route_data_file {}", path.display()), Faults::default());
    let ours = |guid| ports.iter().any(|(own, _)| *own == guid);
    let routes = match read(path, &mut faults, |file, faults| preload::routes(file, ours, faults)) {
        Ok(routes) => routes,
        Err(error) => {
            let hosts: Reading<_> = preload::hosts;
            return unread(&name, path, &error, hosts, "it is a file of hosts: an addr_data_file", report);
        }
    };
    report_faults(&name, &faults, report);
    for (guid, lid) in ports {
        match routes.destinations(*guid, *lid) {
            0 => report.warn(
                format!("{name}: no routes of port {guid} with LID {lid}"),
                "its paths come from subnet administration: let OpenSM write the file again, for this subnet",
            ),
            count => report.ok(format!("{name}: {count} destinations of port {guid} with LID {lid}")),
        }
    }
    if ports.is_empty() {
        let count = routes.counts().ports;
        report.ok(format!("{name}: paths of {count} ports; those of this node are reported when one is active"));
    }
}

fn hosts(path: &Path, report: &mut Report) {
    let (name, mut faults) = (format!("addr_data_file {}", path.display()), Faults::default());
    match read(path, &mut faults, preload::hosts) {
        Ok(hosts) => {
            report_faults(&name, &faults, report);
            if let Some(problem) = faults.repeated_hosts() {
                report.warn(
                    format!("{name}: {problem}"),
                    "a port that should have both needs two names: correct the file",
                );
            }
            report.ok(format!("{name}: {} addresses", hosts.len()));
            if hosts.left_out() > 0 {
                report.warn(format!("{name}: {} addresses are too many", hosts.left_out()), "make the file shorter");
            }
        }
        Err(error) => {
            let routes: Reading<_> = |file, faults| preload::routes(file, |_| false, faults);
            unread(&name, path, &error, routes, "it is a path dump of OpenSM: a route_data_file", report);
        }
    }
}

/// Reports a file without any correct line, which may be a file of the `other` kind.
fn unread<T>(name: &str, path: &Path, error: &ReadError, other: Reading<T>, is_other: &str, report: &mut Report) {
    let advice = match error {
        ReadError::Nothing if read(path, &mut Faults::default(), other).is_ok() => is_other,
        ReadError::Nothing => "it is a file of something else",
        ReadError::Io(error) if error.kind() == io::ErrorKind::NotFound => "make it, or correct the path",
        ReadError::Io(_) => "the daemon must be able to read it",
    };
    report.reload(format!("{name}: {error}"), format!("{advice}; nothing is preloaded from it"));
}

fn report_faults(name: &str, faults: &Faults, report: &mut Report) {
    let Some(first) = faults.first.first() else {
        if faults.too_long > 0 {
            report.warn(format!("{name}: {} lines are too long", faults.too_long), "they are skipped");
        }
        return;
    };
    report.warn(
        format!(
            "{name}: {} lines are wrong, the first at {}:{}: {}",
            faults.count + faults.too_long,
            first.line,
            first.column,
            first.kind
        ),
        "they are skipped; create the file again",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::report::Verdict::{self, Ok, Reload, Warn};
    use std::fs;

    const HOSTS: &str = "10.0.0.1 fe80::2:c903:0:11\nnode2 fe80::2:c903:0:12\n";

    fn found(files: &Files, ports: &[(Guid, Lid)]) -> Vec<(Verdict, String)> {
        let report = Report::of(|report| preload(files, ports, report));
        report.findings.iter().map(|finding| (finding.verdict, finding.to_string())).collect()
    }

    #[test]
    fn hosts_file_is_reported_with_its_addresses_and_faults() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let files = Files { hosts: Some(path.clone()), ..Files::default() };
        let check = || found(&files, &[]);
        assert!(check()[0].1.ends_with("make it, or correct the path; nothing is preloaded from it"), "{:?}", check());
        fs::write(&path, HOSTS).unwrap();
        assert!(check().len() == 1 && check()[0].0 == Ok && check()[0].1.ends_with(": 2 addresses"), "{:?}", check());
        fs::write(&path, format!("{HOSTS}node3 nonsense\n")).unwrap();
        assert!(check()[0].0 == Warn && check()[0].1.contains(": 1 lines are wrong, the first at 3:"), "{:?}", check());
        assert_eq!(check()[1].0, Ok);
        fs::write(&path, "nonsense\n").unwrap();
        assert!(check()[0].1.contains("something else"), "{:?}", check());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(check()[0].0 == Reload && check()[0].1.contains("not a regular file"), "{:?}", check());
    }

    #[test]
    fn file_of_the_other_kind_is_recognized() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, HOSTS).unwrap();
        let found = found(&Files { routes: Some(path), ..Files::default() }, &[]);
        assert!(found.len() == 1 && found[0].1.contains("it is a file of hosts: an addr_data_file"), "{found:?}");
    }

    #[test]
    fn path_dump_is_reported_with_the_destinations_of_each_port() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/3node.opensm_full_v1");
        let check = |files: Files, ports: &[(Guid, Lid)]| found(&files, ports);
        let routes = || Files { routes: Some(path.into()), ..Files::default() };
        let ours = (Guid::new(0x0002_c903_00b0_0001), Lid::new(1));
        let found = check(routes(), &[ours, (ours.0, Lid::new(99))]);
        assert!(found[0].0 == Ok && found[0].1.contains(&format!(" destinations of port {}", ours.0)), "{found:?}");
        assert!(found[1].0 == Warn && found[1].1.contains("no routes of port"), "{found:?}");
        let found = check(routes(), &[]);
        assert!(found.len() == 1 && found[0].0 == Ok && found[0].1.contains(": paths of 4 ports"), "{found:?}");
        let found = check(Files { hosts: Some(path.into()), ..Files::default() }, &[]);
        assert!(found.iter().any(|(_, line)| line.contains("it is a path dump of OpenSM")), "{found:?}");
    }
}
