//! The table of open connections. Each has a unique number, so that a closed connection is detected.
use super::engine::Engine;
use crate::errno::Result;
use nix::errno::Errno;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, RwLock},
};

type Open = BTreeMap<usize, Arc<Mutex<Engine>>>;

static TABLE: RwLock<(usize, Open)> = RwLock::new((0, BTreeMap::new()));

/// Adds a connection and returns its number.
pub(crate) fn open(engine: Engine) -> Result<usize> {
    let mut table = TABLE.write().map_err(|_| Errno::ENOTRECOVERABLE)?;
    let (last, open) = &mut *table;
    let number = last.checked_add(1).ok_or(Errno::EMFILE)?;
    *last = number;
    open.insert(number, Arc::new(Mutex::new(engine)));
    Ok(number)
}

/// Returns the connection with this number. The caller may use it until it drops it, even if it is closed meanwhile.
pub(crate) fn find(number: usize) -> Result<Arc<Mutex<Engine>>> {
    let table = TABLE.read().map_err(|_| Errno::ENOTRECOVERABLE)?;
    table.1.get(&number).cloned().ok_or(Errno::EBADF)
}

/// Removes a connection. It is closed after the calls that use it have returned.
pub(crate) fn close(number: usize) -> Result<()> {
    let mut table = TABLE.write().map_err(|_| Errno::ENOTRECOVERABLE)?;
    let closed = table.1.remove(&number);
    drop(table);
    closed.map(drop).ok_or(Errno::EBADF)
}
