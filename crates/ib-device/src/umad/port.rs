//! An open umad file.
use super::{Agent, AgentId, MadAddress, ReceiveBuffer, Received, Rmpp, ioctl};
use crate::{Error, Result, error::errno};
use core::time::Duration;
use ib_mad::{GlobalRoute, as_bytes, umad::UmadHeader};
use nix::{errno::Errno, libc};
use std::{
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::OpenOptionsExt,
    },
    path::Path,
};

/// Minimum length of a MAD that the kernel accepts, in bytes: a MAD header and an RMPP header.
const SHORTEST_MAD: usize = 36;

/// A port's MAD interface: `/dev/infiniband/umadN`, open and non-blocking.
///
/// Dropping the port unregisters all agents. Open requests end without a response or an error.
#[derive(Debug)]
pub struct UmadPort {
    file: File,
    /// Buffer in which the frame of a send is assembled.
    frame: Vec<u8>,
}

/// The kernel's handling of a MAD after it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No response is expected. The program receives neither a response nor an error.
    Nothing,
    /// A response with the same transaction id is expected. If no response arrives within `timeout` (whole ms, at least
    /// 1), the kernel retransmits the MAD, up to `retries` times. After the last time-out, the kernel returns the
    /// request with [`Received::failure`] `ETIMEDOUT`.
    Response {
        /// Time to wait after each transmission.
        timeout: Duration,
        /// Number of retransmissions.
        retries: u32,
    },
}

impl UmadPort {
    /// Opens the file and switches to frames with a P_Key index.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be opened. The kernel gives it to root alone, and udev rules to others.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(path)
            .map_err(Error::file(path))?;
        ioctl::enable_pkey(&file)?;
        Ok(Self { file, frame: Vec::new() })
    }

    /// Registers an agent. A file can have 32 agents.
    ///
    /// # Errors
    /// [`Error::Call`] with `EINVAL` if another agent of the port has one of the methods, `ENOMEM` if the file has 32
    /// agents, `ENOTTY` if the kernel does not support [`Rmpp::Program`] (before 3.17).
    pub fn register(&self, agent: &Agent) -> Result<AgentId> {
        let mut request = agent.request2();
        match ioctl::register_agent2(&self.file, &mut request) {
            Ok(()) => Ok(AgentId(request.id)),
            // A kernel before 3.17 returns ENOTTY, a replacement of the kernel's umad may return EINVAL or ENOSYS.
            // Retry with the first form of the request.
            Err(Errno::ENOTTY | Errno::EINVAL | Errno::ENOSYS) if agent.rmpp != Rmpp::Program => {
                let mut request = agent.request();
                ioctl::register_agent(&self.file, &mut request).map_err(Error::call("REGISTER_AGENT"))?;
                Ok(AgentId(request.id))
            }
            Err(errno) => Err(Error::call("REGISTER_AGENT2")(errno)),
        }
    }

    /// Unregisters an agent. Open requests of the agent end without a response or an error.
    ///
    /// # Errors
    /// [`Error::Call`] with `EINVAL` if there is no such agent.
    pub fn unregister(&self, agent: AgentId) -> Result<()> {
        ioctl::unregister_agent(&self.file, agent.0)
    }

    /// Sends a MAD of at least 36 bytes: a MAD of up to 256 bytes, or a long message of an agent with [`Rmpp::Kernel`]
    /// whose RMPP header has the flag "active". The kernel sets the upper half of a request's transaction id, and the
    /// lengths in the RMPP header.
    ///
    /// In spite of `O_NONBLOCK`, the call may sleep while the kernel resolves the neighbour (RoCE: about 1 s for a GID
    /// that no host has).
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Gone`]; [`Error::Call`] with `EINVAL` for an address that the port cannot reach
    /// (no GRH on RoCE, or at a port that requires one) or an unknown agent, `ENOMEM` if the agent has too many requests
    /// without a response.
    pub fn send(&mut self, agent: AgentId, to: &MadAddress, expect: Expect, mad: &[u8]) -> Result<()> {
        if mad.len() < SHORTEST_MAD {
            return Err(Error::Length { what: "MAD", got: mad.len(), min: SHORTEST_MAD, max: usize::MAX });
        }
        self.frame.clear();
        self.frame.extend_from_slice(as_bytes(&header(agent, to, expect)));
        self.frame.extend_from_slice(mad);
        loop {
            match (&self.file).write(&self.frame) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::call("write")(errno(&error))),
            }
        }
    }

    /// Receives the next MAD or failed request; `None` if none has arrived.
    ///
    /// # Errors
    /// [`Error::Gone`] after the device was removed; [`Error::Call`] with `ENOMEM` if there is no memory for a long
    /// message.
    pub fn receive<'a>(&self, buffer: &'a mut ReceiveBuffer) -> Result<Option<Received<'a>>> {
        buffer.fill(&self.file)
    }
}

impl AsFd for UmadPort {
    /// Returns the file, which is readable while there are MADs to receive.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn header(agent: AgentId, to: &MadAddress, expect: Expect) -> UmadHeader {
    let (timeout_ms, retries) = match expect {
        Expect::Nothing => (0, 0),
        Expect::Response { timeout, retries } => {
            (u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX).max(1), retries)
        }
    };
    let grh = to.path.grh;
    let GlobalRoute { dgid, sgid_index, flow_label, hop_limit, traffic_class } = grh.unwrap_or_default();
    UmadHeader {
        id: agent.0.into(),
        timeout_ms: timeout_ms.into(),
        retries: retries.into(),
        qpn: to.qpn.get().into(),
        qkey: to.qkey,
        lid: to.path.dlid,
        sl: to.path.sl.get(),
        path_bits: to.path.path_bits,
        grh_present: grh.is_some().into(),
        gid_index: sgid_index,
        hop_limit,
        traffic_class,
        gid: dgid,
        flow_label: flow_label.get().into(),
        pkey_index: to.pkey_index.into(),
        ..UmadHeader::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::umad::Methods;
    use ib_mad::{AddressVector, FlowLabel, Lid, MgmtClass, ServiceLevel};

    /// `/dev/null` rejects all requests with ENOTTY, as an old kernel rejects the newer form.
    #[test]
    fn registration_fails_if_both_forms_are_refused() {
        let null = Path::new("/dev/null");
        assert!(matches!(UmadPort::open(null), Err(Error::Call { call: "ENABLE_PKEY", errno: Errno::ENOTTY })));
        let port = UmadPort { file: File::open(null).unwrap(), frame: Vec::new() };
        let agent = Agent::client(MgmtClass::SUBN_ADM, 2).serving(Methods::NONE);
        for (rmpp, form) in
            [(Rmpp::None, "REGISTER_AGENT"), (Rmpp::Kernel, "REGISTER_AGENT"), (Rmpp::Program, "REGISTER_AGENT2")]
        {
            let refused = port.register(&agent.with_rmpp(rmpp));
            assert!(
                matches!(refused, Err(Error::Call { call, errno: Errno::ENOTTY }) if call == form),
                "{rmpp:?}: {refused:?}"
            );
        }
        assert!(matches!(port.unregister(AgentId(0)), Err(Error::Call { errno: Errno::ENOTTY, .. })));
    }

    #[test]
    fn header_has_the_layout_of_the_kernel() {
        let grh = GlobalRoute {
            dgid: "fe80::1".parse().unwrap(),
            sgid_index: 3,
            flow_label: FlowLabel::of::<0x12345>(),
            hop_limit: 64,
            traffic_class: 7,
        };
        let path = AddressVector { path_bits: 1, ..AddressVector::local(Lid::new(0x1234), ServiceLevel::of::<5>()) };
        let to = MadAddress::general_services(path.with_grh(grh), 2);
        let response = Expect::Response { timeout: Duration::from_micros(300), retries: 4 };
        let sent = header(AgentId(9), &to, response);
        // The sender of a MAD with this header is the destination of the response.
        assert_eq!(Received { header: &sent, mad: &[] }.sender(), to);
        let local = MadAddress { path: AddressVector { grh: None, ..to.path }, ..to };
        assert_eq!(Received { header: &header(AgentId(9), &local, response), mad: &[] }.sender(), local);
        let bytes = as_bytes(&sent).to_vec();
        // The fields of the C structure in <rdma/ib_user_mad.h>, in their order.
        let mut expected = Vec::new();
        expected.extend([9u32, 0, 1, 4, 0].map(u32::to_ne_bytes).concat());
        expected.extend([0, 0, 0, 1, 0x80, 1, 0, 0, 0x12, 0x34, 5, 1, 1, 3, 64, 7]);
        expected.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x23, 0x45]);
        expected.extend(2u16.to_ne_bytes());
        expected.extend([0; 6]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn time_out_is_rounded_to_at_least_one_millisecond() {
        let to = MadAddress::general_services(AddressVector::default(), 0);
        let timeout_ms = |expect| header(AgentId(0), &to, expect).timeout_ms.get();
        let wait = |timeout| timeout_ms(Expect::Response { timeout, retries: 0 });
        assert_eq!((timeout_ms(Expect::Nothing), wait(Duration::ZERO), wait(Duration::from_secs(2))), (0, 1, 2000));
        assert_eq!(wait(Duration::MAX), u32::MAX);
    }
}
