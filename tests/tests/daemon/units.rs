//! Notifications to systemd, and the unit files.
use acm_tests::{Binary, Connection, Node, Process, UNIX_SOCKET, binary, program, run, until, write_script};
use nix::sys::signal::Signal;
use std::{
    fs,
    os::unix::{fs::symlink, net::UnixDatagram},
    path::{Path, PathBuf},
};

fn dist(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("dist").join(name)
}

/// Received notifications, one line per assignment.
struct Notifications {
    socket: UnixDatagram,
    lines: Vec<String>,
}

impl Notifications {
    fn wait_for(&mut self, what: &str, times: usize) {
        until(&format!("{times} x {what}"), || {
            let mut buffer = [0; 4096];
            while let Ok(length) = self.socket.recv(&mut buffer) {
                self.lines.extend(String::from_utf8_lossy(&buffer[..length]).lines().map(str::to_owned));
            }
            (self.lines.iter().filter(|line| line.starts_with(what)).count() >= times).then_some(())
        });
    }

    fn has(&self, what: &str) -> bool {
        self.lines.iter().any(|line| line.starts_with(what))
    }
}

#[test]
fn systemd_is_notified_of_each_state() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut received = Notifications { socket, lines: Vec::new() };
    let mut command = Node::embedded().argument("--systemd").command(dir.path());
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000");
    let mut daemon = Process::start(&mut command);
    received.wait_for("READY=1", 1);
    // The daemon serves from this notification on.
    drop(Connection::open(&dir.path().join(UNIX_SOCKET)));
    // Ten watchdog notifications without other events.
    received.wait_for("WATCHDOG=1", 10);
    received.wait_for("STATUS=1 of 1 ports active, 1 of 1 groups joined, 0 clients, 1 paths known, 0 lookups", 1);
    assert!(!received.has("RELOADING") && !received.has("STOPPING"));
    daemon.signal(Signal::SIGHUP);
    received.wait_for("RELOADING=1", 1);
    received.wait_for("READY=1", 2);
    assert!(received.has("MONOTONIC_USEC="), "{:?}", received.lines);
    daemon.signal(Signal::SIGTERM);
    received.wait_for("STOPPING=1", 1);
    assert_eq!(daemon.wait().code, Some(0));
}

#[test]
fn unit_has_an_exposure_level_of_at_most_2_5() {
    let unit = dist("acm-mio.service");
    let words = ["security", "--offline=true", "--no-pager", unit.to_str().unwrap()];
    let text = run(program("systemd-analyze", "systemd"), &words).stdout;
    let score =
        text.lines().find_map(|line| line.split_once("exposure level for acm-mio.service: ")).expect("a score").1;
    let score: f64 = score.split(' ').next().unwrap().parse().unwrap();
    assert!(score <= 2.5, "{text}");
}

#[test]
fn unit_comes_before_the_programs_of_users() {
    let unit = fs::read_to_string(dist("acm-mio.service")).unwrap();
    assert!(unit.lines().any(|line| line == "Nice=-10"), "{unit}");
}

/// A name of a driver that loads after the start of the unit allows nothing, so that the number must be there as well.
#[test]
fn unit_allows_the_devices_of_drivers_that_load_later() {
    let unit = fs::read_to_string(dist("acm-mio.service")).unwrap();
    // IB_UVERBS_MAJOR and IB_UMAD_MAJOR of Linux.
    assert!(unit.lines().any(|line| line == "DeviceAllow=char-231 rw"), "{unit}");
    // Both would hide what the daemon follows.
    for hides in ["ProtectHostname=", "ProcSubset="] {
        assert!(!unit.lines().any(|line| line.starts_with(hides)), "{hides}");
    }
}

#[test]
fn socket_unit_removes_stale_port_files_before_it_listens() {
    let unit = fs::read_to_string(dist("acm-mio.socket")).unwrap();
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStartPre=-/usr/sbin/acm-mio ")).unwrap();
    let run_dir = tempfile::tempdir().unwrap();
    fs::write(run_dir.path().join("ibacm.port"), "0\n").unwrap();
    let words: Vec<&str> = command.split(' ').chain(["--run-dir", run_dir.path().to_str().unwrap()]).collect();
    let _ = run(binary(Binary::AcmMio), &words).success();
    assert_eq!(fs::read_dir(run_dir.path()).unwrap().count(), 0);
}

/// Copies the units into a folder, and returns what systemd says of the start of a unit there.
fn verified(folder: &Path, unit: &str) -> Vec<String> {
    for name in ["acm-mio.service", "acm-mio.socket"] {
        // The programs are not installed on the test machine.
        let text = fs::read_to_string(dist(name)).unwrap();
        let text = text.replace("/usr/sbin/acm-mio", "/bin/true").replace("/usr/sbin/acmctl", "/bin/true");
        fs::write(folder.join(name), text).unwrap();
    }
    let unit = folder.join(unit);
    let found = run(program("systemd-analyze", "systemd"), &["verify", "--man=no", unit.to_str().unwrap()]);
    // systemd before version 254 ignores these with a warning.
    let is_new = |line: &str| ["RestartSteps", "RestartMaxDelaySec"].iter().any(|name| line.contains(name));
    found.stderr.lines().filter(|line| line.contains("acm") && !is_new(line)).map(str::to_owned).collect()
}

#[test]
fn units_pass_systemd_analyze() {
    let folder = tempfile::tempdir().unwrap();
    let said = verified(folder.path(), "acm-mio.service");
    assert!(said.is_empty(), "{said:#?}");
    let users = run(program("systemd-sysusers", "systemd"), &["--dry-run", dist("acm-mio.sysusers").to_str().unwrap()]);
    assert_eq!(users.code, Some(0), "{users}");
}

/// With the package acm-as-ibacm, the units conflict with their own names: systemd drops that, if it is not a conflict
/// of one unit with the other.
#[test]
fn units_start_by_the_names_of_ibacm() {
    for unit in ["acm-mio.service", "acm-mio.socket", "ibacm.service", "ibacm.socket"] {
        let folder = tempfile::tempdir().unwrap();
        for kind in ["service", "socket"] {
            symlink(format!("acm-mio.{kind}"), folder.path().join(format!("ibacm.{kind}"))).unwrap();
        }
        let (dropped, said): (Vec<_>, Vec<_>) =
            verified(folder.path(), unit).into_iter().partition(|line| line.contains(" dropped"));
        assert!(said.is_empty(), "{unit}: {said:#?}");
        // These were the aliases, and not the units of an installed ibacm.
        assert!(dropped.iter().any(|line| line.contains("Conflicts=ibacm.s")), "{unit}: {dropped:#?}");
    }
}

/// Stands for systemctl. `start` writes the name of the unit into the file that the unit names, when both units are there.
const SYSTEMCTL: &str = "\
case $1 in
cat) printf '[Service]\\nExecStart=/sbin/acm-mio --systemd\\n' ;;
start)
    echo > /run/started.$$
    until [ $(ls /run/started.* | wc -l) = 2 ]; do sleep 0.1; done
    file=$(sed -n 's/^StandardOutput=file://p' /run/systemd/system/$2)
    echo $2 > $file ;;
show) echo ExecMainStatus=4 ;;
status) echo \"$2 failed\" ;;
esac
";

#[test]
fn two_checks_of_the_unit_may_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let systemctl = folder.path().join("systemctl");
    write_script(&systemctl, SYSTEMCTL);
    let check = format!("{} check --as-service", binary(Binary::AcmCtl).display());
    let path = folder.path().display();
    let line = format!(
        "mount -t tmpfs tmpfs /run; PATH={path}:$PATH; {check} & first=$!; {check}; echo $?; wait $first; echo $?; \
         ls /run/systemd/system"
    );
    let output = run("unshare", &["--mount", "sh", "-c", &line]).success();
    let (statuses, units): (Vec<&str>, Vec<&str>) = output.lines().partition(|line| line.len() == 1);
    assert_eq!(statuses, ["4", "4"], "{output}");
    assert!(units.len() == 2 && units.iter().all(|unit| unit.starts_with("acm-mio-check-")), "{output}");
    assert_ne!(units[0], units[1]);
}
