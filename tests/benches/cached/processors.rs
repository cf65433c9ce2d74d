//! Processor affinity of servers and clients.
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use std::fs;

/// Binds the servers to the first processor, and this process and its later threads to the others. Returns false if
/// there is only one processor.
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
    let mut first_only = CpuSet::new();
    first_only.set(first.unwrap()).unwrap();
    for server in servers {
        for task in fs::read_dir(format!("/proc/{server}/task")).unwrap() {
            let id = task.unwrap().file_name().to_str().unwrap().parse().unwrap();
            sched_setaffinity(Pid::from_raw(id), &first_only).unwrap();
        }
    }
    sched_setaffinity(this, &others).unwrap();
    true
}
