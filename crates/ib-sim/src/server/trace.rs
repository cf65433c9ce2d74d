//! Observers of a served subnet: the trace of sent datagrams as text, and watchers of all packets.
use crate::{crossing::Crossing, id::PortId, port::Port};
use alloc::string::String;
use core::{
    fmt::{self, Debug, Write as _},
    time::Duration,
};
use ib_mad::{AddressVector, Gid, Lid, Pkey, Rate, ServiceLevel};
use std::{
    fs::File,
    io::{self, LineWriter, Write as _},
    path::Path,
};

/// Receives every packet of a served subnet, in the server's thread.
pub trait Watcher: Debug + Send {
    /// Handles a packet on a link.
    fn crossed(&mut self, crossing: &Crossing);

    /// Handles the end of a turn: the server calls this method before it waits for events.
    fn idle(&mut self);
}

/// A file of lines `MICROSECONDS NODE/PORT KIND HEX HEADERS`. KIND is `mad` (to the subnet manager's QP 1) or
/// `datagram`.
#[derive(Debug)]
pub(super) struct Trace(LineWriter<File>);

impl Trace {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(LineWriter::new(File::create(path)?)))
    }

    /// Writes a line. If the disk is full, the line is lost and the subnet continues.
    pub(super) fn sent(&mut self, now: Duration, port: PortId, kind: &str, bytes: &[u8], headers: &Headers) {
        let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let _ = writeln!(self.0, "{} {port} {kind} {hex} {headers}", now.as_micros());
    }
}

/// The headers of a packet, as `slid=35,dlid=49152,sl=0,pkey=0xffff,rate=3,sgid=fe80::1`. A static rate of 0 is the
/// rate of the port. A GID of zero means that there is no global route header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    slid: Lid,
    dlid: Lid,
    sl: ServiceLevel,
    pkey: Pkey,
    static_rate: Rate,
    sgid: Gid,
}

impl Headers {
    /// Returns the headers of a packet that a port sends to this address, with the P_Key at an index.
    pub(super) fn new(port: &Port, to: &AddressVector, pkey_index: u16) -> Self {
        let sgid = to.grh.and_then(|route| port.gids.get(usize::from(route.sgid_index)));
        Self {
            slid: Lid::new(port.lid.get() | u16::from(to.path_bits) & port.lmc.mask()),
            dlid: to.dlid,
            sl: to.sl,
            pkey: port.pkeys.get(usize::from(pkey_index)).copied().unwrap_or_default(),
            static_rate: to.static_rate.unwrap_or_default(),
            sgid: sgid.copied().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { slid, dlid, sl, pkey, static_rate, sgid } = self;
        let (sl, rate) = (sl.get(), static_rate.get());
        write!(f, "slid={slid},dlid={dlid},sl={sl},pkey={:#06x},rate={rate},sgid={sgid}", pkey.get())
    }
}
