//! Requests of C programs: their members, their number, and their completions.
use super::*;
use crate::abi::types::{EpInfo, PathData, PathRecord};
use acm_wire::client::{ClientStatus, Opcode, Reply, next_frame};
use nix::libc::{AF_INET, AF_INET6, sockaddr_in, sockaddr_in6};
use std::{
    ffi::CString,
    io::{Read, Write},
    os::unix::net::UnixListener,
    thread,
};

/// A connection to a daemon that does not respond.
struct Silent {
    conn: *mut Conn,
    _folder: tempfile::TempDir,
    listener: UnixListener,
}

impl Silent {
    fn new(depth: c_uint) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let service = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the argument is a string.
        let conn = unsafe { ib_acm_open(service.as_ptr(), depth) };
        assert!(!conn.is_null());
        Self { conn, _folder: folder, listener }
    }

    /// Submits requests. Returns the number, or the error.
    fn submit(&self, requests: &[SubmittedRequest]) -> core::result::Result<usize, Errno> {
        let mut requests = requests.to_vec();
        let count = requests.len().try_into().unwrap();
        // SAFETY: the array has `count` requests, whose pointers are null or lead to constants of the test.
        let submitted = unsafe { ib_acm_submit(self.conn, requests.as_mut_ptr(), count) };
        usize::try_from(submitted).map_err(|_| Errno::last())
    }

    fn completions(&self) -> Vec<Completion> {
        let path = PathData { flags: 0, reserved: 0, path: PathRecord([0; 64]) };
        let empty = Completion {
            cookie: 0,
            id: 0,
            kind: 0,
            error: 0,
            status: 0,
            source_type: 0,
            path,
            source: EpInfo([0; 64]),
            counters: [0; 7],
            endpoint: ptr::null_mut(),
        };
        let mut all = vec![empty; 100];
        // SAFETY: the array has 100 completions.
        let count = unsafe { ib_acm_poll(self.conn, all.as_mut_ptr(), 100) };
        all.truncate(count.try_into().unwrap());
        all
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        assert_eq!(ib_acm_close(self.conn), 0);
    }
}

fn counters() -> SubmittedRequest {
    SubmittedRequest {
        cookie: 7,
        id: 0,
        kind: IB_ACM_QUERY_PERF,
        flags: 0,
        timeout_ms: 0,
        index: 0,
        port: 0,
        reserved: [0; 2],
        src_name: ptr::null(),
        dest_name: ptr::null(),
        src_ip: ptr::null(),
        dest_ip: ptr::null(),
        path: ptr::null(),
        reserved2: [0; 3],
    }
}

#[test]
fn depth_of_zero_stands_for_64_open_requests() {
    let silent = Silent::new(0);
    assert_eq!(silent.submit(&[counters(); 65]), Ok(64));
    assert_eq!(silent.submit(&[counters()]), Err(Errno::EAGAIN));
    assert_eq!(ib_acm_cancel(silent.conn, IB_ACM_ALL), 0);
    assert_eq!(silent.submit(&[counters()]), Err(Errno::EAGAIN), "until they are polled");
    let cancelled = silent.completions();
    assert!(cancelled.len() == 64 && cancelled.iter().all(|one| one.error == Errno::ECANCELED as c_int));
    assert_eq!(silent.submit(&[counters()]), Ok(1));
}

#[test]
fn request_with_an_invalid_member_is_refused_and_those_before_it_are_accepted() {
    let silent = Silent::new(0);
    // SAFETY: zero bytes are valid addresses.
    let (mut ipv4, mut ipv6): (sockaddr_in, sockaddr_in6) = unsafe { core::mem::zeroed() };
    (ipv4.sin_family, ipv6.sin6_family) = (AF_INET.try_into().unwrap(), AF_INET6.try_into().unwrap());
    let (ipv4, ipv6) = ((&raw const ipv4).cast(), (&raw const ipv6).cast());
    let good = counters();
    let ip = SubmittedRequest { kind: IB_ACM_RESOLVE_IP, dest_ip: ipv4, ..good };
    assert_eq!(silent.submit(&[ip, SubmittedRequest { src_ip: ipv4, ..ip }]), Ok(2));
    for invalid in [
        SubmittedRequest { reserved: [0, 1], ..good },
        SubmittedRequest { reserved2: [0, 0, 1], ..good },
        SubmittedRequest { kind: 99, ..good },
        SubmittedRequest { flags: EntryFlags::NO_DELAY.bits(), ..good },
        SubmittedRequest { port: 1, ..good },
        SubmittedRequest { kind: IB_ACM_RESOLVE_NAME, ..good },
        SubmittedRequest { src_ip: ipv6, ..ip },
        SubmittedRequest { flags: EntryFlags::QUERY_SA.bits(), ..ip },
    ] {
        assert_eq!(silent.submit(&[invalid]), Err(Errno::EINVAL), "{invalid:?}");
        assert_eq!(silent.submit(&[good, invalid, good]), Ok(1), "{invalid:?}");
    }
}

#[test]
fn completion_has_the_status_of_the_daemon() {
    let silent = Silent::new(4);
    let mut stream = silent.listener.accept().unwrap().0;
    let daemon = thread::spawn(move || {
        let mut request = [0; 500];
        let count = stream.read(&mut request).unwrap();
        let tid = next_frame(&request[..count]).unwrap().unwrap().tid();
        stream.write_all(&Reply::refused(Opcode::PERF, tid, ClientStatus::ESRCADDR)).unwrap();
        stream
    });
    assert_eq!(silent.submit(&[counters()]), Ok(1));
    let _open = daemon.join().unwrap();
    let completed = silent.completions();
    let [one] = completed.as_slice() else { panic!("{completed:?}") };
    let status = u32::from(ClientStatus::ESRCADDR.get());
    assert_eq!((one.cookie, one.error, one.status), (7, Errno::EADDRNOTAVAIL as c_int, status));
}

#[test]
fn cancel_of_a_complete_request_is_refused_and_changes_nothing() {
    let silent = Silent::new(4);
    let mut stream = silent.listener.accept().unwrap().0;
    let mut requests = [counters(), counters()];
    // SAFETY: the array has two requests without pointers.
    assert_eq!(unsafe { ib_acm_submit(silent.conn, requests.as_mut_ptr(), 2) }, 2);
    let [answered, cancelled] = requests.map(|request| request.id);
    let mut request = [0; 500];
    let count = stream.read(&mut request).unwrap();
    let tid = next_frame(&request[..count]).unwrap().unwrap().tid();
    stream.write_all(&Reply::refused(Opcode::PERF, tid, ClientStatus::ESRCADDR)).unwrap();
    assert_eq!(ib_acm_cancel(silent.conn, cancelled), 0);
    assert_eq!((ib_acm_cancel(silent.conn, cancelled), Errno::last()), (-1, Errno::ENOENT));
    let completed = silent.completions();
    let completed: Vec<_> = completed.iter().map(|one| (one.id, one.error)).collect();
    let (refused, cancel) = (Errno::EADDRNOTAVAIL as c_int, Errno::ECANCELED as c_int);
    assert!(completed == [(cancelled, cancel), (answered, refused)], "{completed:?}");
    assert_eq!((ib_acm_cancel(silent.conn, answered), Errno::last()), (-1, Errno::ENOENT));
    assert_eq!(silent.completions().len(), 0);
}

#[test]
fn timeout_of_zero_stands_for_30_seconds() {
    for (timeout_ms, expected) in [(0, 30_000), (20, 20)] {
        // SAFETY: the request has no pointers.
        let submission = unsafe { submission(&SubmittedRequest { timeout_ms, ..counters() }) }.unwrap();
        assert_eq!(submission.timeout.as_millis(), expected);
    }
}
