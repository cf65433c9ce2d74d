//! Which daemon systemd starts, and which one has the sockets after a boot.
use super::{places::Places, report::Report};
use std::{
    fs,
    path::{Path, PathBuf},
};

const THEIRS: [&str; 2] = ["ibacm.socket", "ibacm.service"];
const OURS: [&str; 2] = ["acm-mio.socket", "acm-mio.service"];

pub(super) fn units(places: &Places, report: &mut Report) {
    let enabled = |units: [&str; 2]| -> Vec<PathBuf> {
        units.iter().filter(|unit| !is_masked(places, unit)).filter_map(|unit| enabled(places, unit)).collect()
    };
    let (theirs, ours) = (enabled(THEIRS), enabled(OURS));
    let advice = "systemctl disable --now ibacm.socket ibacm.service";
    let shown: Vec<String> = theirs.iter().map(|path| path.display().to_string()).collect();
    match (shown.join(", "), ours.is_empty()) {
        (none, _) if none.is_empty() => report.ok("systemd does not start ibacm"),
        (theirs, true) => report.warn(format!("systemd starts ibacm at the next boot: {theirs}"), advice),
        (theirs, false) => {
            report.fail(format!("systemd starts both ibacm and acm-mio at the next boot: {theirs}"), advice);
        }
    }
}

/// The link by which another unit wants this one.
fn enabled(places: &Places, unit: &str) -> Option<PathBuf> {
    let wanting = |folder: &PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_list = |path: &PathBuf| path.extension().is_some_and(|end| end == "wants" || end == "requires");
    let mut links = places.units.iter().flat_map(wanting).filter(is_list).map(|list| list.join(unit));
    links.find(|link| link.symlink_metadata().is_ok())
}

/// Whether nobody may start it: the first of its files is `/dev/null`.
fn is_masked(places: &Places, unit: &str) -> bool {
    let mut files = places.units.iter().map(|folder| folder.join(unit));
    let first = files.find(|file| file.symlink_metadata().is_ok());
    first.and_then(|file| fs::read_link(file).ok()).is_some_and(|target| target == Path::new("/dev/null"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::report::Verdict;
    use std::os::unix::fs::symlink;

    #[test]
    fn who_has_the_sockets_after_a_boot() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("etc");
        let places = Places { units: vec![own.clone(), dir.path().join("lib")], ..Places::default() };
        let wants = own.join("sockets.target.wants");
        fs::create_dir_all(&wants).unwrap();
        let found = || {
            let mut report = Report::default();
            units(&places, &mut report);
            let finding = report.findings.remove(0);
            (finding.verdict, finding.what, finding.advice)
        };
        assert_eq!(found().0, Verdict::Ok);
        symlink("/nowhere", wants.join("ibacm.socket")).unwrap();
        let (verdict, what, advice) = found();
        assert!(verdict == Verdict::Warn && what.ends_with("sockets.target.wants/ibacm.socket"), "{what}");
        assert!(advice.contains("disable --now ibacm.socket"), "{advice}");
        symlink("/nowhere", wants.join("acm-mio.socket")).unwrap();
        assert_eq!(found().0, Verdict::Fail);
        symlink("/dev/null", own.join("ibacm.socket")).unwrap();
        assert_eq!(found().0, Verdict::Ok, "it is masked");
    }
}
