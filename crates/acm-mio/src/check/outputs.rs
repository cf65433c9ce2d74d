//! Checks of what the daemon opens for administrators: the status socket, the socket of `metrics_listen`, the files of
//! `--record`.
use super::report::Report;
use crate::{
    cli::Args,
    metrics::{STATUS_SOCKET, check_socket},
    record::RecordError,
    settings::Settings,
};
use acm_wire::files::opts::{MetricsTarget, Opt};
use std::{
    io::{self, ErrorKind},
    net::TcpListener,
    path::Path,
};

/// Reports what the daemon could not open. It starts without its sockets for administrators, and not without its
/// recording.
pub(super) fn outputs(args: &Args, settings: &Settings, start_dir: &Path, report: &mut Report) {
    // The start makes the directory.
    if args.run_dir.is_dir() {
        let path = args.run_dir.join(STATUS_SOCKET);
        socket(&format!("status socket {}", path.display()), check_socket(&path), report);
    }
    let target = settings.options().metrics_listen;
    let opened = match target {
        MetricsTarget::None => Ok(()),
        MetricsTarget::Unix(path) => check_socket(Path::new(path)),
        MetricsTarget::Loopback(address) => TcpListener::bind(address).map(|_| ()),
    };
    socket(&Opt::MetricsListen(target).to_string(), opened, report);
    if let Some(Err(error)) = args.record.as_ref().map(|choice| RecordError::check(choice, start_dir)) {
        report.fail(error.to_string(), "see --record; the daemon does not start without it");
    }
}

fn socket(what: &str, opened: io::Result<()>, report: &mut Report) {
    let Err(error) = opened else { return };
    let advice = match error.kind() {
        ErrorKind::AddrInUse => "expected while the daemon runs; otherwise ss -xlp and ss -ltnp name the process",
        ErrorKind::AlreadyExists => "remove it, or name another; the daemon starts without it",
        ErrorKind::NotFound => "make its directory, or name another; the daemon starts without it",
        _ => "correct it, or run as root; the daemon starts without it",
    };
    report.warn(format!("{what}: {error}"), advice);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::settings_of;
    use clap::Parser as _;
    use std::{fs, os::unix::net::UnixListener};

    #[test]
    fn what_the_start_cannot_open_is_reported_and_not_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let check = |options: &str, more: &[&str]| {
            let words = [&["acm-mio", "--run-dir", dir.path().to_str().unwrap()], more].concat();
            let (args, settings) = (Args::parse_from(words), settings_of(options));
            let lines = Report::of(|report| outputs(&args, &settings, dir.path(), report)).lines();
            lines.into_iter().map(|line| line.replace(dir.path().to_str().unwrap(), "")).collect::<Vec<_>>()
        };
        let metrics = format!("metrics_listen {}\n", path("m.sock").display());
        assert_eq!(check(&metrics, &["--record", "r,files=2"]), [""; 0]);
        // Sockets of a process, and of one that has ended.
        let served = [STATUS_SOCKET, "m.sock"].map(|name| UnixListener::bind(path(name)).unwrap());
        let found = check(&metrics, &[]);
        assert!(found.len() == 2 && found.iter().all(|line| line.starts_with("warn ")), "{found:?}");
        assert!(found[0].contains(": a process serves it: expected while the daemon runs"), "{found:?}");
        drop(served);
        assert_eq!(check(&metrics, &[]), [""; 0], "they are replaced");
        assert!(path("m.sock").exists());
        for name in [STATUS_SOCKET, "m.sock", "r.1"] {
            let _ = fs::remove_file(path(name));
            fs::write(path(name), "precious").unwrap();
        }
        let found = check(&metrics, &["--record", "r,files=2"]);
        assert!(found.len() == 3 && found[0].contains("/acm-mio.status is not a socket: remove it"), "{found:?}");
        assert!(found[1].starts_with("warn metrics_listen /m.sock: ") && found[2].starts_with("FAIL "), "{found:?}");
        assert!(found[2].contains("/r.1 is not a recording"), "{found:?}");
        assert!(check(&format!("metrics_listen {}\n", path("none/m").display()), &[])[1].contains("No such file"));
        assert!(check("", &["--record", "none/r"])[1].starts_with("FAIL cannot record into /none/r: No such"));
        let long = "x".repeat(120);
        assert!(check(&format!("metrics_listen {}\n", path(&long).display()), &[])[1].contains("must be shorter"));
        assert_eq!(fs::read_to_string(path("r.1")).unwrap(), "precious");
    }
}
