//! The daemon that systemd starts, ibacm or acm-mio, and that has the sockets after a boot.
use super::{paths::Paths, report::Report};
use std::{
    fs,
    path::{Path, PathBuf},
};

const THEIRS: [&str; 2] = ["ibacm.socket", "ibacm.service"];
const OURS: [&str; 2] = ["acm-mio.socket", "acm-mio.service"];

pub(super) fn units(paths: &Paths, report: &mut Report) {
    let enabled = |units: [&str; 2]| -> Vec<PathBuf> {
        units.iter().filter(|unit| !is_masked(paths, unit)).filter_map(|unit| enabled(paths, unit)).collect()
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

/// Returns the link by which another unit wants or requires this unit.
fn enabled(paths: &Paths, unit: &str) -> Option<PathBuf> {
    let wanting = |folder: &PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_list = |path: &PathBuf| path.extension().is_some_and(|end| end == "wants" || end == "requires");
    let mut links = paths.units.iter().flat_map(wanting).filter(is_list).map(|list| list.join(unit));
    links.find(|link| link.symlink_metadata().is_ok())
}

/// Reports whether the unit is masked: the first of its files is a link to `/dev/null`.
fn is_masked(paths: &Paths, unit: &str) -> bool {
    let mut files = paths.units.iter().map(|folder| folder.join(unit));
    let first = files.find(|file| file.symlink_metadata().is_ok());
    first.and_then(|file| fs::read_link(file).ok()).is_some_and(|target| target == Path::new("/dev/null"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::report::Verdict;
    use std::os::unix::fs::symlink;

    #[test]
    fn ibacm_must_not_be_enabled_beside_acm_mio() {
        let dir = tempfile::tempdir().unwrap();
        let etc = dir.path().join("etc");
        let paths = Paths { units: vec![etc.clone(), dir.path().join("lib")], ..Paths::default() };
        let wants = etc.join("sockets.target.wants");
        fs::create_dir_all(&wants).unwrap();
        let found = || {
            let finding = Report::of(|report| units(&paths, report)).findings.remove(0);
            (finding.verdict, finding.what, finding.advice)
        };
        assert_eq!(found().0, Verdict::Ok);
        symlink("/nowhere", wants.join("ibacm.socket")).unwrap();
        let (verdict, what, advice) = found();
        assert!(verdict == Verdict::Warn && what.ends_with("sockets.target.wants/ibacm.socket"), "{what}");
        assert!(advice.contains("disable --now ibacm.socket"), "{advice}");
        symlink("/nowhere", wants.join("acm-mio.socket")).unwrap();
        assert_eq!(found().0, Verdict::Fail);
        symlink("/dev/null", etc.join("ibacm.socket")).unwrap();
        assert_eq!(found().0, Verdict::Ok, "the unit is masked");
    }
}
