//! The users of the generator of attacks: see acm-tests' module `hostile`.
//!
//! - `acm-hostile attack CLIENTS METRICS STATUS FILE`: takes the steps in FILE, as many users, at these sockets.
//! - `acm-hostile honest SOCKET NETLINK UID NAMES`: resolves names without end; the exit status is 1 after the first failure.
//! - `acm-hostile resume SOCKET PROGRAM ...`: executes a program with the descriptors from a socket.
//! - `acm-hostile keep`: keeps its standard output open until the end of its standard input.
#![forbid(unsafe_code)]
use acm_tests::hostile::{Sockets, Step, honest_user, hostile_users, keeper, resume};
use nix::unistd::{Gid, setgid, setgroups};
use std::{env, fs};

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["attack", clients, metrics, status, file] => {
            let sockets = Sockets { clients: clients.into(), metrics: metrics.into(), status: status.into() };
            let text = fs::read_to_string(file).unwrap();
            let steps: Vec<Step> = text.lines().map(|line| line.parse().unwrap()).collect();
            hostile_users(sockets, &steps)
        }
        ["honest", socket, netlink, uid, names] => {
            let uid: u32 = uid.parse().unwrap();
            setgroups(&[]).unwrap();
            setgid(Gid::from_raw(uid)).unwrap();
            honest_user(socket.as_ref(), netlink.parse().unwrap(), uid, names.parse().unwrap())
        }
        ["resume", hand, program, ref arguments @ ..] => resume(hand.as_ref(), program, arguments),
        ["keep"] => keeper(),
        _ => panic!("usage: see the first lines of this program"),
    }
    .unwrap();
}
