//! Who runs where.
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use std::fs;

/// Gives the servers the first processor and this process, with all threads that it starts from now on, the others;
/// not if there is only one.
pub(crate) fn set_apart(servers: impl Iterator<Item = Pid>) -> bool {
    let this = Pid::from_raw(0);
    let all = sched_getaffinity(this).unwrap();
    let (mut first, mut others) = (None, CpuSet::new());
    for processor in (0..CpuSet::count()).filter(|processor| all.is_set(*processor).unwrap()) {
        match first {
            None => first = Some(processor),
            Some(_) => others.set(processor).unwrap(),
        }
    }
    if others == CpuSet::new() {
        return false;
    }
    let mut servers_own = CpuSet::new();
    servers_own.set(first.unwrap()).unwrap();
    for server in servers {
        for task in fs::read_dir(format!("/proc/{server}/task")).unwrap() {
            let id = task.unwrap().file_name().to_str().unwrap().parse().unwrap();
            sched_setaffinity(Pid::from_raw(id), &servers_own).unwrap();
        }
    }
    sched_setaffinity(this, &others).unwrap();
    true
}
