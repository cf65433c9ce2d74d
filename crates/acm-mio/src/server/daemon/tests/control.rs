//! Requests of administrators: who may make them, and what they change.
use super::*;
use crate::{
    metrics::{Asked, COMMANDS, Command, Response},
    peer::Peer,
};
use acm_sansio::{
    Account,
    api::Level,
    preload::{Preload, Route, Routes},
};
use core::net::Ipv4Addr;
use ib_mad::{Guid, Mtu, Rate, ServiceLevel, id::Lmc};

/// Number of cached paths: three pages.
const PATHS: u16 = 600;

fn ask_as(daemon: &mut Daemon, by: Account, (method, path): (&str, &str), query: &str) -> Response {
    let command = Command { method: method.to_owned(), path: path.to_owned(), query: query.to_owned() };
    let asked = Asked { slot: 0, command, by: (by, Peer::Unknown) };
    let response = daemon.command(daemon.clock.now(), &asked);
    daemon.drain(daemon.clock.now());
    response
}

fn ask(daemon: &mut Daemon, command: (&str, &str), query: &str) -> serde_json::Value {
    match ask_as(daemon, Account::User(0), command, query) {
        Response::Done(json) => serde_json::from_str(&json).unwrap(),
        other => panic!("{command:?} {query}: {other:?}"),
    }
}

/// Requests one page after the other. Returns the pages.
fn pages(daemon: &mut Daemon, method: &str, conditions: &str) -> Vec<serde_json::Value> {
    let (mut pages, mut from) = (Vec::new(), Some(0));
    while let Some(slot) = from {
        let page = ask(daemon, (method, "/cache"), &format!("{conditions}from={slot}"));
        from = page["next"].as_u64();
        pages.push(page);
    }
    pages
}

/// Returns the number of cached paths to LIDs.
fn cached(daemon: &mut Daemon) -> usize {
    let ready = pages(daemon, "GET", "state=ready&name=1*&");
    ready.iter().map(|page| page["entries"].as_array().unwrap().len()).sum()
}

fn flushed(daemon: &mut Daemon, conditions: &str) -> u64 {
    pages(daemon, "DELETE", conditions).iter().map(|page| page["flushed"].as_u64().unwrap()).sum()
}

/// Returns a daemon with paths from a file to the LIDs from 1000 on, each of which was requested once.
fn with_paths(dir: &std::path::Path) -> Daemon {
    let mut daemon = daemon(dir);
    let file = dir.join("opts");
    std::fs::write(&file, "log_file stdout\n").unwrap();
    daemon.reload.current = Settings::read(&Args::parse_from(["acm-mio", "-O", file.to_str().unwrap(), "-A", "/none"]));
    let on_open = Box::new(|| Ok(ib_mad::Qpn::of::<7>()));
    daemon.host.fabric = Some(Box::new(TestFabric { on_open, ..TestFabric::default() }));
    let now = daemon.clock.now();
    let sgid = "fe80::2".parse().unwrap();
    let attributes = PortAttributes {
        lid: Lid::new(2),
        gids: vec![sgid],
        pkeys: vec![Pkey::DEFAULT_FULL],
        ..PortAttributes::default()
    };
    let address = Address::from_text("node2");
    daemon.input(now, Input::AddressAdded { port: PortId(1), pkey: None, address });
    daemon.input(now, Input::PortUp { port: PortId(1), attributes });
    let mut routes = Routes::builder();
    let port = Guid::new(2);
    routes.port(port, Lid::new(2), Lmc::default());
    let lids = 1000..1000 + PATHS;
    lids.clone().for_each(|lid| routes.port(Guid::new(lid.into()), Lid::new(lid), Lmc::default()));
    routes.section(port, Lid::new(2));
    for lid in lids.clone() {
        let (sl, mtu, rate) = (ServiceLevel::default(), Mtu::B4096, Rate::new(7));
        routes.route(Route { dlid: Lid::new(lid), sl, mtu, rate });
    }
    daemon.input(now, Input::Preloaded(Preload::Routes(routes.finish().into())));
    let mut client = connect(dir);
    for lids in lids.collect::<Vec<_>>().chunks(50) {
        for lid in lids {
            let path = PathRecord { dlid: Lid::new(*lid), sgid, ..PathRecord::default() };
            client.write_all(&path_request(&path, EntryFlags::empty(), [1; 8])).unwrap();
        }
        let mut missing = 88 * lids.len();
        while missing > 0 {
            turns(&mut daemon);
            missing -= received(&mut client).0;
        }
    }
    assert_eq!(cached(&mut daemon), usize::from(PATHS));
    daemon
}

/// A method that is added to the list is tested, too.
#[test]
fn only_root_and_the_user_of_the_daemon_change_it_and_others_look() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = with_paths(dir.path());
    let own = nix::unistd::geteuid().as_raw();
    let another = if own == 77 { 78 } else { 77 };
    let others = [
        Account::User(another),
        Account::Peer(Ipv4Addr::LOCALHOST.into()),
        Account::Kernel,
        Account::Daemon,
        Account::Remote,
    ];
    let looks: Vec<_> = COMMANDS.into_iter().filter(|(method, _)| *method == "GET").collect();
    assert_eq!(
        looks,
        [("GET", "/config"), ("GET", "/log-level"), ("GET", "/cache"), ("GET", "/reload"), ("GET", "/recording")],
        "these change nothing"
    );
    let file = dir.path().join("trace.pcapng");
    let query = |(_, path): (&str, &str)| match path {
        "/recording" => format!("file={}", file.display()),
        "/reload" => "number=0".to_owned(),
        "/log-level" => "level=2&for=60".to_owned(),
        _ => String::new(),
    };
    for command in COMMANDS {
        for by in others {
            let response = ask_as(&mut daemon, by, command, &query(command));
            match looks.contains(&command) {
                true => assert!(matches!(response, Response::Done(_)), "{by}, {command:?}: {response:?}"),
                false => assert!(matches!(response, Response::Forbidden(_)), "{by}, {command:?}: {response:?}"),
            }
        }
    }
    assert_eq!((daemon.reload.progress.requested, daemon.acm.recorded(), file.exists()), (0, None, false));
    assert_eq!(cached(&mut daemon), usize::from(PATHS));
    for by in [0, own].map(Account::User) {
        for command in COMMANDS {
            let response = ask_as(&mut daemon, by, command, &query(command));
            assert!(matches!(response, Response::Done(_)), "{by}, {command:?}: {response:?}");
            match command {
                ("DELETE", "/cache") => assert!(cached(&mut daemon) < usize::from(PATHS)),
                ("POST", "/log-level") => assert_eq!(daemon.acm.config().log_level, Level::Debug),
                ("DELETE", "/log-level") => assert_eq!(daemon.acm.config().log_level, Level::Always),
                ("POST", "/reload") => assert!(daemon.reload.progress.requested > 0),
                ("POST", "/recording") => assert_eq!(daemon.acm.recorded(), Some(file.as_path())),
                ("DELETE", "/recording") => assert_eq!(daemon.acm.recorded(), None),
                look => assert!(looks.contains(&look), "{look:?} needs its effect here"),
            }
        }
        // The file of the recording is written in the background.
        while daemon.acm.unwritten().is_some() {
            std::thread::yield_now();
            daemon.acm.end_failed();
        }
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn all_pages_are_flushed_and_only_what_meets_the_conditions() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = with_paths(dir.path());
    assert!(pages(&mut daemon, "GET", "").len() >= 3);
    assert_eq!((flushed(&mut daemon, "name=1599&"), cached(&mut daemon)), (1, 599), "an entry of the last page");
    assert_eq!((flushed(&mut daemon, "newer=3600&name=1500&"), flushed(&mut daemon, "older=3600&")), (1, 0));
    assert_eq!((flushed(&mut daemon, ""), cached(&mut daemon)), (598, 0));
}

#[test]
fn log_level_is_another_for_at_most_a_day() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    for (seconds, is_set) in [(0, false), (1, true), (86_400, true), (86_401, false)] {
        let query = format!("level=2&for={seconds}");
        let response = ask_as(&mut daemon, Account::User(0), ("POST", "/log-level"), &query);
        match is_set {
            true => assert!(matches!(response, Response::Done(_)), "{seconds}: {response:?}"),
            false => assert!(matches!(response, Response::Invalid(_)), "{seconds}: {response:?}"),
        }
    }
}
