//! Queries to the subnet administrator, stored in the form from which the MAD is built when its turn comes.
use crate::api::port::PortAttributes;
use alloc::boxed::Box;
use ib_mad::{
    AttributeId, Lid, Method, Qpn, TimeCode, TransactionId,
    notice::{InformInfo, InformQpnTime, InformType, Producer, TrapNumber},
    sa::{McMemberRecord, PathMask, PathRecord, Query, SaMad},
    wire::{InBytes, Octets},
};

/// The time for the response to a report: 4.096 us x 2^18, about one second.
const REPORT_TIME: TimeCode = TimeCode::of::<18>();

/// Reports whether an attribute is about multicast membership.
const fn is_membership(attribute: AttributeId) -> bool {
    attribute.get() == AttributeId::MC_MEMBER_RECORD.get()
}

/// A query to the subnet administrator. Where noted, the port's current GID is inserted when the MAD is built, because
/// the GID may change while the query waits.
#[derive(Clone, Debug)]
pub enum SaQuery {
    /// A path record query for one record.
    Path {
        /// The known fields.
        query: Query<PathRecord>,
        /// `true` if the source is the port's current GID.
        from_port: bool,
    },
    /// A query for the paths from the port's current GID to all ports. The response is a table (RMPP).
    PathTable(Query<PathRecord>),
    /// A join of the port's current GID to a group.
    Join(Query<McMemberRecord>),
    /// A leave; the query contains the GID that joined.
    Leave(Query<McMemberRecord>),
    /// The beginning or end of a subscription to notices.
    Inform(InformInfo),
    /// A MAD that is sent as it is, except for its transaction id. Any status in the response is a result.
    Datagram(Box<SaMad>),
}

impl SaQuery {
    /// Reports whether this is a join or leave. Joins and leaves go first, because everything depends on them. They go
    /// one at a time, so that a leave and the following join of the same group cannot overtake each other.
    pub(crate) const fn is_membership(&self) -> bool {
        match self {
            Self::Join(_) | Self::Leave(_) => true,
            Self::Datagram(mad) => is_membership(mad.header.attribute_id),
            Self::Path { .. } | Self::PathTable(_) | Self::Inform(_) => false,
        }
    }

    /// Reports whether the response is a table of any length.
    pub(crate) const fn is_table(&self) -> bool {
        matches!(self, Self::PathTable(_))
    }

    /// Returns the attribute of a valid response.
    pub(crate) const fn attribute(&self) -> AttributeId {
        match self {
            Self::Path { .. } | Self::PathTable(_) => AttributeId::PATH_RECORD,
            Self::Join(_) | Self::Leave(_) => AttributeId::MC_MEMBER_RECORD,
            Self::Inform(_) => AttributeId::INFORM_INFO,
            Self::Datagram(mad) => mad.header.attribute_id,
        }
    }

    /// Builds the MAD for this port.
    pub(crate) fn mad(&self, port: &PortAttributes, tid: TransactionId) -> SaMad {
        match self {
            Self::Path { query, from_port: true } => query.sgid(port.gid()).request(Method::GET, tid),
            Self::Path { query, from_port: false } => query.request(Method::GET, tid),
            Self::PathTable(query) => query.sgid(port.gid()).request(Method::GET_TABLE, tid),
            Self::Join(query) => query.port_gid(port.gid()).request(Method::SET, tid),
            Self::Leave(query) => query.request(Method::DELETE, tid),
            Self::Datagram(mad) => {
                let mut mad = **mad;
                mad.header.transaction_id = tid;
                mad
            }
            Self::Inform(inform) => {
                let mut mad = SaMad::request(Method::SET, AttributeId::INFORM_INFO, tid);
                mad.data = Octets::of(inform);
                mad
            }
        }
    }

    /// Reports whether the query releases something at the SA: a membership or a subscription.
    pub(crate) const fn releases(&self) -> bool {
        match self {
            Self::Leave(_) => true,
            Self::Inform(inform) => inform.subscribe == 0,
            Self::Datagram(mad) => {
                is_membership(mad.header.attribute_id) && mad.header.method.get() == Method::DELETE.get()
            }
            Self::Path { .. } | Self::PathTable(_) | Self::Join(_) => false,
        }
    }

    /// Creates a subscription to all notices with this trap number.
    pub(crate) fn subscribe(trap: TrapNumber) -> Self {
        Self::Inform(InformInfo {
            lid_range_begin: Lid::PERMISSIVE,
            is_generic: 1,
            subscribe: 1,
            notice_type: InformType::ALL,
            trap_number: trap,
            qpn_time: InformQpnTime::default().with_qpn(Qpn::GSI).with_resp_time_value(REPORT_TIME),
            producer: InBytes::new(Producer::ANY),
            ..InformInfo::default()
        })
    }

    /// Creates the end of that subscription.
    pub(crate) fn unsubscribe(trap: TrapNumber) -> Self {
        match Self::subscribe(trap) {
            Self::Inform(inform) => Self::Inform(InformInfo { subscribe: 0, ..inform }),
            other => other,
        }
    }

    /// Returns the query of a client's QUERY_SA from the fields that are not zero, as C ibacm does. The number of paths
    /// and the preference are not taken from the client.
    pub(crate) fn of_client(path: &PathRecord) -> Query<PathRecord> {
        Query::from_non_zero(*path).without(PathMask::NUM_PATH | PathMask::PREFERENCE)
    }
}
