//! A daemon publishes paths to a client in another process: `cargo run -p acm-shm --example share`.
//!
//! The client gets the descriptor as its standard input, and prints each change that it sees. In production the daemon
//! passes the descriptor over a Unix socket.
use acm_shm::{Identity, Key, LIFETIME, Lookup, Reader, Time, Writer};
use acm_wire::Address;
use core::{error::Error, num::NonZeroU64, time::Duration};
use ib_mad::{Lid, sa::PathRecord};
use std::{
    env, io,
    process::{Command, Stdio},
    thread::sleep,
};

const ENDPOINT: u32 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("client") { client() } else { daemon() }
}

fn daemon() -> Result<(), Box<dyn Error>> {
    let identity = Identity { generation: NonZeroU64::MIN, seed: [7, 11] };
    let mut writer = Writer::create(1000, identity, Time::now())?;
    let mut client = Command::new(env::current_exe()?)
        .arg("client")
        .stdin(Stdio::from(writer.file().try_clone_to_owned()?))
        .stdout(Stdio::inherit())
        .spawn()?;

    let key = Key::new(ENDPOINT, &Address::from_text("node2"));
    for lid in [16, 17] {
        let path = PathRecord { dlid: Lid::new(lid), ..PathRecord::ZERO };
        writer.insert(&key, &path, Time::now() + Duration::from_secs(60))?;
        sleep(LIFETIME / 4);
        writer.heartbeat(Time::now());
    }
    writer.remove(&key);
    sleep(LIFETIME / 4);
    writer.end();
    println!("daemon: the client's mapping has ended; it requests the next one by socket");
    client.wait()?;
    Ok(())
}

fn client() -> Result<(), Box<dyn Error>> {
    let reader = Reader::map(io::stdin())?;
    let key = Key::new(ENDPOINT, &Address::from_text("NODE2"));
    let mut last = None;
    while last != Some(Lookup::Stopped) {
        let now = reader.lookup(&key, Time::now());
        if last != Some(now) {
            match &now {
                Lookup::Path(path) => println!("client: LID {}", path.dlid),
                other => println!("client: {other:?}, so the socket is used"),
            }
        }
        last = Some(now);
        sleep(Duration::from_millis(10));
    }
    Ok(())
}
