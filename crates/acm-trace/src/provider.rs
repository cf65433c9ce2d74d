//! What providers outside of the core are asked and say, as text of a trace.
use acm_sansio::{
    EndpointId, PortId,
    api::{CallId, ExternalRequestId, ExternalSaId, ProviderCall, ProviderMessage},
    port::PortAttributes,
    sa::SaError,
};
use acm_wire::{Address, client::Counter};
use ib_mad::{Pkey, Wire, sa::SaMad};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Two digits for each byte.
pub(crate) struct Digits<'a>(pub(crate) &'a [u8]);

impl core::fmt::Display for Digits<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Bytes, as text two digits for each.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Hex(pub Vec<u8>);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Digits(&self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let mut bytes = Vec::with_capacity(text.len() / 2);
        for pair in text.as_bytes().chunks(2) {
            let [high, low] = *pair else { return Err(D::Error::custom("half a byte")) };
            let byte = digit(high).zip(digit(low)).map(|(high, low)| high << 4 | low);
            bytes.push(byte.ok_or_else(|| D::Error::custom("not a hexadecimal digit"))?);
        }
        Ok(Self(bytes))
    }
}

/// A [`ProviderMessage`] that owns what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the variant with the same name")]
pub enum Said {
    /// [`ProviderMessage::Returned`].
    Returned { call: CallId, is_ok: bool },
    /// [`ProviderMessage::ResolveResponse`].
    Answered { request: ExternalRequestId, message: Hex },
    /// [`ProviderMessage::Counters`].
    Counters { request: ExternalRequestId, values: Vec<u64> },
    /// [`ProviderMessage::SaRequest`].
    SaAsked { id: ExternalSaId, endpoint: EndpointId, mad: Hex },
    /// [`ProviderMessage::IncrementCounter`].
    Counted(Counter),
}

impl From<&ProviderMessage<'_>> for Said {
    fn from(said: &ProviderMessage<'_>) -> Self {
        match *said {
            ProviderMessage::Returned { call, is_ok } => Self::Returned { call, is_ok },
            ProviderMessage::ResolveResponse { request, message } => {
                Self::Answered { request, message: Hex(message.to_vec()) }
            }
            ProviderMessage::Counters { request, values } => Self::Counters { request, values: values.to_vec() },
            ProviderMessage::SaRequest { id, endpoint, mad } => Self::SaAsked { id, endpoint, mad: Hex(mad.to_vec()) },
            ProviderMessage::IncrementCounter(counter) => Self::Counted(counter),
        }
    }
}

impl Said {
    /// What was said, to be said again.
    #[must_use]
    pub fn as_said(&self) -> ProviderMessage<'_> {
        match *self {
            Self::Returned { call, is_ok } => ProviderMessage::Returned { call, is_ok },
            Self::Answered { request, ref message } => {
                ProviderMessage::ResolveResponse { request, message: &message.0 }
            }
            Self::Counters { request, ref values } => ProviderMessage::Counters { request, values },
            Self::SaAsked { id, endpoint, ref mad } => ProviderMessage::SaRequest { id, endpoint, mad: &mad.0 },
            Self::Counted(counter) => ProviderMessage::IncrementCounter(counter),
        }
    }
}

/// A [`ProviderCall`] as text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Called {
    OpenPort { port: PortId, attributes: Box<PortAttributes> },
    ClosePort(PortId),
    OpenEndpoint { endpoint: EndpointId, port: PortId, pkey: Pkey },
    CloseEndpoint(EndpointId),
    AddAddress { endpoint: EndpointId, address: Address },
    RemoveAddress { endpoint: EndpointId, address: Address },
    Resolve { request: ExternalRequestId, endpoint: EndpointId, source: Address, message: Hex },
    Reregister(PortId),
    QueryCounters { request: ExternalRequestId, endpoint: EndpointId },
    SaAnswered { id: ExternalSaId, mad: Mad },
    SaFailed { id: ExternalSaId, error: SaError },
}

/// A datagram of subnet administration, 256 bytes.
#[derive(Clone, Debug)]
pub(crate) struct Mad(Box<SaMad>);

impl Serialize for Mad {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Digits(ib_mad::as_bytes(&*self.0)))
    }
}

impl<'de> Deserialize<'de> for Mad {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Hex::deserialize(deserializer)?;
        SaMad::parse(&bytes.0).map(|mad| Self(Box::new(*mad))).map_err(D::Error::custom)
    }
}

impl From<ProviderCall> for Called {
    fn from(call: ProviderCall) -> Self {
        match call {
            ProviderCall::OpenPort { port, attributes } => Self::OpenPort { port, attributes },
            ProviderCall::ClosePort(port) => Self::ClosePort(port),
            ProviderCall::OpenEndpoint { endpoint, port, pkey } => Self::OpenEndpoint { endpoint, port, pkey },
            ProviderCall::CloseEndpoint(endpoint) => Self::CloseEndpoint(endpoint),
            ProviderCall::AddAddress { endpoint, address } => Self::AddAddress { endpoint, address },
            ProviderCall::RemoveAddress { endpoint, address } => Self::RemoveAddress { endpoint, address },
            ProviderCall::Resolve { request, endpoint, source, message } => {
                Self::Resolve { request, endpoint, source, message: Hex(message) }
            }
            ProviderCall::Reregister(port) => Self::Reregister(port),
            ProviderCall::QueryCounters { request, endpoint } => Self::QueryCounters { request, endpoint },
            ProviderCall::SaDone { id, result: Ok(mad) } => Self::SaAnswered { id, mad: Mad(mad) },
            ProviderCall::SaDone { id, result: Err(error) } => Self::SaFailed { id, error },
        }
    }
}

impl From<Called> for ProviderCall {
    fn from(called: Called) -> Self {
        match called {
            Called::OpenPort { port, attributes } => Self::OpenPort { port, attributes },
            Called::ClosePort(port) => Self::ClosePort(port),
            Called::OpenEndpoint { endpoint, port, pkey } => Self::OpenEndpoint { endpoint, port, pkey },
            Called::CloseEndpoint(endpoint) => Self::CloseEndpoint(endpoint),
            Called::AddAddress { endpoint, address } => Self::AddAddress { endpoint, address },
            Called::RemoveAddress { endpoint, address } => Self::RemoveAddress { endpoint, address },
            Called::Resolve { request, endpoint, source, message } => {
                Self::Resolve { request, endpoint, source, message: message.0 }
            }
            Called::Reregister(port) => Self::Reregister(port),
            Called::QueryCounters { request, endpoint } => Self::QueryCounters { request, endpoint },
            Called::SaAnswered { id, mad } => Self::SaDone { id, result: Ok(mad.0) },
            Called::SaFailed { id, error } => Self::SaDone { id, result: Err(error) },
        }
    }
}
