//! Agents: the datagrams that a program registers for.
use super::ioctl::{RegisterAgent, RegisterAgent2, USER_RMPP};
use ib_mad::{Method, MgmtClass};

/// A registered agent, identified by its number in one open umad file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub(super) u32);

impl AgentId {
    /// Returns the kernel's number of the agent, the `id` in the header of a frame.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// The handling of messages that are longer than one MAD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rmpp {
    /// No RMPP: each MAD is a message.
    #[default]
    None,
    /// The kernel handles RMPP: a long message is one write or one read (RMPP version 1).
    Kernel,
    /// The program handles RMPP: the kernel passes every segment unchanged.
    Program,
}

/// An agent: the datagrams that it sends and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Management class of the agent's datagrams.
    pub class: MgmtClass,
    /// Version of the class's format.
    pub class_version: u8,
    /// Handling of long messages.
    pub rmpp: Rmpp,
    /// Methods of the requests that the agent receives. At each port, only one agent can receive the requests with a
    /// method of a class.
    pub methods: Methods,
    /// Vendor (24 bits) of a class 0x30..=0x4F; 0 for all other classes.
    pub oui: u32,
}

impl Agent {
    /// Creates an agent that sends requests and receives the responses.
    #[must_use]
    pub const fn client(class: MgmtClass, class_version: u8) -> Self {
        Self { class, class_version, rmpp: Rmpp::None, methods: Methods::NONE, oui: 0 }
    }

    /// Sets the methods of the requests that the agent receives.
    #[must_use]
    pub const fn serving(self, methods: Methods) -> Self {
        Self { methods, ..self }
    }

    /// Sets the handling of long messages.
    #[must_use]
    pub const fn with_rmpp(self, rmpp: Rmpp) -> Self {
        Self { rmpp, ..self }
    }

    /// Returns 0 for the classes of subnet management, and 1 for all others.
    const fn qpn(self) -> u8 {
        match self.class {
            MgmtClass::SUBN_LID_ROUTED | MgmtClass::SUBN_DIRECTED_ROUTE => 0,
            _ => 1,
        }
    }

    /// Returns the argument of the first form of the request, which has no flag for [`Rmpp::Program`].
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
    /// The empty set, for an agent that receives only responses.
    pub const NONE: Self = Self(0);

    /// Adds a method. A response method (bit 7) is ignored, because agents receive responses without registration.
    #[must_use]
    pub const fn with(self, method: Method) -> Self {
        match method.get() {
            method @ 0..=0x7f => Self(self.0 | 1 << method),
            _ => self,
        }
    }

    /// Returns the set as the kernel's words: method n is bit n % 64 of word n / 64.
    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    const fn words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    /// Returns the set as an array of the kernel's `unsigned long`.
    #[cfg(target_pointer_width = "64")]
    const fn longs(self) -> [u64; 2] {
        self.words()
    }

    /// Returns the set as an array of the kernel's `unsigned long`.
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
    fn each_method_is_a_bit_and_responses_are_ignored() {
        let methods = Methods::NONE.with(Method::new(0x01)).with(Method::new(0x41)).with(Method::new(0x81));
        assert_eq!((methods.words(), methods.with(Method::new(0x41))), ([2, 2], methods));
        #[cfg(target_pointer_width = "64")]
        assert_eq!(methods.longs(), [2, 2]);
    }

    #[test]
    fn both_forms_of_a_registration_have_the_same_contents() {
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
