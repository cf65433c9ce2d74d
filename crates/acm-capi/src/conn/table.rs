//! The table of open connections. Each connection has a unique number, so that the number of a closed connection is
//! rejected.
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

/// Returns the connection with this number. The caller may use the returned value even if another thread closes the
/// connection.
pub(crate) fn find(number: usize) -> Result<Arc<Mutex<Engine>>> {
    let table = TABLE.read().map_err(|_| Errno::ENOTRECOVERABLE)?;
    table.1.get(&number).cloned().ok_or(Errno::EBADF)
}

/// Removes a connection from the table. The connection is closed after all calls that use it have returned.
pub(crate) fn close(number: usize) -> Result<()> {
    let mut table = TABLE.write().map_err(|_| Errno::ENOTRECOVERABLE)?;
    let closed = table.1.remove(&number);
    drop(table);
    closed.map(drop).ok_or(Errno::EBADF)
}
