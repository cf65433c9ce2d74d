//! The kinds of packets in a trace.
use core::fmt;

macro_rules! kinds {
    ($($(#[$m:meta])* $kind:ident $code:literal $name:literal,)*) => {
        /// The kind of a packet: the code in its header, and the name in its comment.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$m])* $kind,)*
        }

        impl Kind {
            /// Every kind, in the order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Returns the code in a packet's header.
            #[must_use]
            pub const fn code(self) -> u16 {
                match self {
                    $(Self::$kind => $code,)*
                }
            }

            /// Returns the kind with a code; `None` for an unknown code.
            #[must_use]
            pub const fn of(code: u16) -> Option<Self> {
                match code {
                    $($code => Some(Self::$kind),)*
                    _ => None,
                }
            }

            /// Returns the name: the word behind `acm` in a packet's comment.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns the kind with a name; `None` for an unknown name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$kind),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    /// The options of the section's core.
    Start 0x01 "start",
    /// The end of a complete section.
    End 0x02 "end",
    /// A gap: the number of missing packets.
    Lost 0x03 "lost",
    /// [`Acm::handle_timeout`](acm_sansio::Acm::handle_timeout).
    Timeout 0x04 "timeout",

    /// [`Input::ClientOpened`](acm_sansio::Input::ClientOpened).
    ClientOpened 0x10 "client_opened",
    /// [`Input::ClientMessage`](acm_sansio::Input::ClientMessage).
    ClientMessage 0x11 "client_message",
    /// [`Input::ClientClosed`](acm_sansio::Input::ClientClosed).
    ClientGone 0x12 "client_gone",
    /// [`Input::KernelRequest`](acm_sansio::Input::KernelRequest).
    KernelRequest 0x13 "kernel_request",
    /// [`Input::KernelAddressRequest`](acm_sansio::Input::KernelAddressRequest).
    KernelAddressRequest 0x14 "kernel_address_request",
    /// [`Input::KernelTimeout`](acm_sansio::Input::KernelTimeout).
    KernelTimeout 0x15 "kernel_timeout",
    /// [`Input::SourceSelected`](acm_sansio::Input::SourceSelected).
    SourceSelected 0x16 "source_selected",
    /// [`Input::SaResponse`](acm_sansio::Input::SaResponse).
    SaAnswer 0x17 "sa_answer",
    /// [`Input::SaReport`](acm_sansio::Input::SaReport).
    SaReport 0x18 "sa_report",
    /// [`Input::SaFailed`](acm_sansio::Input::SaFailed).
    SaFailed 0x19 "sa_failed",
    /// [`Input::Datagram`](acm_sansio::Input::Datagram).
    Datagram 0x1a "datagram",
    /// [`Input::EndpointOpened`](acm_sansio::Input::EndpointOpened).
    EndpointOpened 0x1b "endpoint_opened",
    /// [`Input::EndpointLost`](acm_sansio::Input::EndpointLost).
    EndpointLost 0x1c "endpoint_lost",
    /// [`Input::EndpointFailed`](acm_sansio::Input::EndpointFailed).
    EndpointFailed 0x1d "endpoint_failed",
    /// [`Input::PortUp`](acm_sansio::Input::PortUp).
    PortUp 0x1e "port_up",
    /// [`Input::PortDown`](acm_sansio::Input::PortDown).
    PortDown 0x1f "port_down",
    /// [`Input::ClientReregister`](acm_sansio::Input::ClientReregister).
    ClientReregister 0x20 "client_reregister",
    /// [`Input::AddressAdded`](acm_sansio::Input::AddressAdded).
    AddressAdded 0x21 "address_added",
    /// [`Input::AddressRemoved`](acm_sansio::Input::AddressRemoved).
    AddressRemoved 0x22 "address_removed",
    /// [`Input::Preloaded`](acm_sansio::Input::Preloaded).
    Preloaded 0x23 "preloaded",
    /// [`Input::Configure`](acm_sansio::Input::Configure).
    Configure 0x24 "configure",
    /// [`Input::Interfaces`](acm_sansio::Input::Interfaces).
    Interfaces 0x25 "interfaces",
    /// [`Input::Shutdown`](acm_sansio::Input::Shutdown).
    Shutdown 0x26 "shutdown",
    /// [`Input::Provider`](acm_sansio::Input::Provider).
    ProviderMessage 0x27 "provider_said",
    /// [`Input::Flush`](acm_sansio::Input::Flush).
    Flush 0x28 "flush",
    /// [`Input::Attached`](acm_sansio::Input::Attached).
    Attached 0x29 "attached",

    /// [`Output::Reply`](acm_sansio::Output::Reply).
    Reply 0x40 "reply",
    /// [`Output::LongReply`](acm_sansio::Output::LongReply).
    LongReply 0x41 "long_reply",
    /// [`Output::KernelReply`](acm_sansio::Output::KernelReply) with a path.
    KernelReply 0x42 "kernel_reply",
    /// [`Output::KernelReply`](acm_sansio::Output::KernelReply) without a path.
    KernelRefusal 0x43 "kernel_refusal",
    /// [`Output::CloseClient`](acm_sansio::Output::CloseClient).
    CloseClient 0x44 "close_client",
    /// [`Output::SelectSource`](acm_sansio::Output::SelectSource).
    SelectSource 0x45 "select_source",
    /// [`Output::SaSend`](acm_sansio::Output::SaSend).
    SaSend 0x46 "sa_send",
    /// [`Output::SaReply`](acm_sansio::Output::SaReply).
    SaReply 0x47 "sa_reply",
    /// [`Output::OpenEndpoint`](acm_sansio::Output::OpenEndpoint).
    OpenEndpoint 0x48 "open_endpoint",
    /// [`Output::CloseEndpoint`](acm_sansio::Output::CloseEndpoint).
    CloseEndpoint 0x49 "close_endpoint",
    /// [`Output::Attach`](acm_sansio::Output::Attach).
    Attach 0x4a "attach",
    /// [`Output::Detach`](acm_sansio::Output::Detach).
    Detach 0x4b "detach",
    /// [`Output::Send`](acm_sansio::Output::Send).
    Send 0x4c "send",
    /// [`Output::Log`](acm_sansio::Output::Log).
    Log 0x4d "log",
    /// [`Output::ShutdownDone`](acm_sansio::Output::ShutdownDone).
    ShutdownDone 0x4e "shutdown_done",
    /// [`Output::Provider`](acm_sansio::Output::Provider).
    ProviderCall 0x4f "provider_call",
    /// [`Output::Publish`](acm_sansio::Output::Publish).
    Publish 0x50 "publish",

    /// A packet that a port sent, in a trace of a fabric ([`Crossing`](crate::Crossing)).
    FabricSent 0x60 "fabric_sent",
    /// A packet that a port received, in a trace of a fabric.
    FabricDelivered 0x61 "fabric_delivered",
}

impl Kind {
    /// Reports whether the packet holds an input or a mark of the recorder, not an output.
    #[must_use]
    pub const fn is_input(self) -> bool {
        self.code() < 0x40
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_is_found_by_code_and_by_name() {
        for kind in Kind::ALL {
            assert_eq!((Kind::of(kind.code()), Kind::named(kind.name())), (Some(*kind), Some(*kind)));
        }
        let codes: Vec<u16> = Kind::ALL.iter().map(|kind| kind.code()).collect();
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "{codes:?}");
        assert_eq!((Kind::of(0x99), Kind::named("telepathy")), (None, None));
        assert!(Kind::ProviderMessage.is_input() && !Kind::Reply.is_input());
    }
}
