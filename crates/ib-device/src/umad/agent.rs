//! What a program registers for.
use super::ioctl::{RegisterAgent, RegisterAgent2, USER_RMPP};
use ib_mad::{Method, MgmtClass};

/// A registered agent: its number in one open umad file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub(super) u32);

impl AgentId {
    /// The kernel's number for it, the `id` of a frame's header.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Who cuts and joins messages that are longer than one MAD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rmpp {
    /// Nobody: each MAD is a message.
    #[default]
    None,
    /// The kernel: a long message is one write, and one read (RMPP version 1).
    Kernel,
    /// The program: the kernel hands over every segment as it came.
    Program,
}

/// An agent: which datagrams it sends and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Management class of its datagrams.
    pub class: MgmtClass,
    /// Version of the class's format.
    pub class_version: u8,
    /// Who handles long messages.
    pub rmpp: Rmpp,
    /// Requests of others that come here. At most one agent of a port can have a method of a class.
    pub methods: Methods,
    /// Vendor (24 bits) of a class 0x30..=0x4F; 0 for all others.
    pub oui: u32,
}

impl Agent {
    /// One that only sends, and receives the answers.
    #[must_use]
    pub const fn client(class: MgmtClass, class_version: u8) -> Self {
        Self { class, class_version, rmpp: Rmpp::None, methods: Methods::NONE, oui: 0 }
    }

    /// The same, with requests of these methods coming in.
    #[must_use]
    pub const fn serving(self, methods: Methods) -> Self {
        Self { methods, ..self }
    }

    /// The same with long messages.
    #[must_use]
    pub const fn with_rmpp(self, rmpp: Rmpp) -> Self {
        Self { rmpp, ..self }
    }

    /// Subnet management lives on QP 0, everything else on QP 1.
    const fn qpn(self) -> u8 {
        match self.class {
            MgmtClass::SUBN_LID_ROUTED | MgmtClass::SUBN_DIRECTED_ROUTE => 0,
            _ => 1,
        }
    }

    /// What the first form of the call takes. It cannot say [`Rmpp::Program`].
    pub(super) fn request(self) -> RegisterAgent {
        let [_, oui @ ..] = self.oui.to_be_bytes();
        RegisterAgent {
            id: 0,
            method_mask: self.methods.longs(),
            qpn: self.qpn(),
            mgmt_class: self.class.get(),
            mgmt_class_version: self.class_version,
            oui,
            rmpp_version: u8::from(self.rmpp != Rmpp::None),
            padding: 0,
        }
    }

    pub(super) fn request2(self) -> RegisterAgent2 {
        RegisterAgent2 {
            id: 0,
            qpn: self.qpn().into(),
            mgmt_class: self.class.get(),
            mgmt_class_version: self.class_version,
            reserved: 0,
            flags: if self.rmpp == Rmpp::Program { USER_RMPP } else { 0 },
            method_mask: self.methods.words(),
            oui: self.oui,
            rmpp_version: u8::from(self.rmpp != Rmpp::None),
            reserved2: [0; 3],
        }
    }
}

/// A set of request methods (0x00 to 0x7F).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Methods(u128);

impl Methods {
    /// None: an agent that receives answers only.
    pub const NONE: Self = Self(0);

    /// The set with this method too. Responses (bit 7) need no registration and are not taken in.
    #[must_use]
    pub const fn with(self, method: Method) -> Self {
        match method.get() {
            method @ 0..=0x7f => Self(self.0 | 1 << method),
            _ => self,
        }
    }

    /// The kernel's words: method n is bit n % 64 of word n / 64.
    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    const fn words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    /// The same as an array of the kernel's `unsigned long`.
    #[cfg(target_pointer_width = "64")]
    const fn longs(self) -> [u64; 2] {
        self.words()
    }

    /// The same as an array of the kernel's `unsigned long`.
    #[cfg(target_pointer_width = "32")]
    #[expect(clippy::cast_possible_truncation, reason = "all four quarters are taken")]
    const fn longs(self) -> [u32; 4] {
        [self.0 as u32, (self.0 >> 32) as u32, (self.0 >> 64) as u32, (self.0 >> 96) as u32]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_bits() {
        let methods = Methods::NONE.with(Method::new(0x01)).with(Method::new(0x41)).with(Method::new(0x81));
        assert_eq!((methods.words(), methods.with(Method::new(0x41))), ([2, 2], methods));
        #[cfg(target_pointer_width = "64")]
        assert_eq!(methods.longs(), [2, 2]);
    }

    #[test]
    fn both_forms_of_a_request() {
        let agent = Agent {
            oui: 0x00_1405,
            ..Agent::client(MgmtClass::new(0x30), 1).with_rmpp(Rmpp::Kernel).serving(Methods::NONE.with(Method::GET))
        };
        let (one, two) = (agent.request(), agent.request2());
        assert_eq!((one.qpn, one.mgmt_class, one.mgmt_class_version, one.oui), (1, 0x30, 1, [0, 0x14, 5]));
        assert_eq!((two.qpn, two.mgmt_class, two.mgmt_class_version, two.oui), (1, 0x30, 1, 0x1405));
        assert_eq!((one.rmpp_version, two.rmpp_version, two.flags, two.method_mask), (1, 1, 0, [2, 0]));
        assert_eq!(agent.with_rmpp(Rmpp::Program).request2().flags, 1);
        assert_eq!(Agent::client(MgmtClass::SUBN_LID_ROUTED, 1).request().qpn, 0);
    }
}
