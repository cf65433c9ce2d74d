//! What is asked of subnet administration: as much as is needed to build the datagram when its turn comes.
use crate::port::PortAttributes;
use alloc::boxed::Box;
use ib_mad::{
    AttributeId, Lid, Method, Qpn, TimeCode, TransactionId,
    notice::{InformInfo, InformQpnTime, InformType, Producer, TrapNumber},
    sa::{McMemberRecord, PathMask, PathRecord, Query, SaMad},
    wire::{InBytes, Octets},
};

/// How long an answer to a report may take: 4.096 us x 2^18, a second.
const REPORT_TIME: TimeCode = TimeCode::of::<18>();

/// Whether a datagram is about being in a group.
const fn is_membership(attribute: AttributeId) -> bool {
    attribute.get() == AttributeId::MC_MEMBER_RECORD.get()
}

/// What is asked of subnet administration. Where it says so, the port's GID is put in when the datagram is built: it
/// may be another one by then.
#[derive(Clone, Debug)]
pub enum SaQuery {
    /// A path: one record is asked for.
    Path {
        /// The fields that are known.
        query: Query<PathRecord>,
        /// The source is the port's GID of that moment.
        from_port: bool,
    },
    /// Membership of the port's GID of that moment in a group.
    Join(Query<McMemberRecord>),
    /// The end of a membership; the query names the GID that joined.
    Leave(Query<McMemberRecord>),
    /// Notices, to be sent from now on or no more.
    Inform(InformInfo),
    /// A datagram as it is, but for its transaction id. Whatever status the answer has, it is the answer.
    Datagram(Box<SaMad>),
}

impl SaQuery {
    /// Whether it is about being in a group. Those go first, because nothing works without them, and one at a time, so
    /// that leaving a group and joining it again cannot change places on the way.
    pub(crate) const fn is_membership(&self) -> bool {
        match self {
            Self::Join(_) | Self::Leave(_) => true,
            Self::Datagram(mad) => is_membership(mad.header.attribute_id),
            Self::Path { .. } | Self::Inform(_) => false,
        }
    }

    /// The attribute that an answer must have.
    pub(crate) const fn attribute(&self) -> AttributeId {
        match self {
            Self::Path { .. } => AttributeId::PATH_RECORD,
            Self::Join(_) | Self::Leave(_) => AttributeId::MC_MEMBER_RECORD,
            Self::Inform(_) => AttributeId::INFORM_INFO,
            Self::Datagram(mad) => mad.header.attribute_id,
        }
    }

    /// The datagram that asks it from this port.
    pub(crate) fn mad(&self, port: &PortAttributes, tid: TransactionId) -> SaMad {
        match self {
            Self::Path { query, from_port: true } => query.sgid(port.gid()).get(tid),
            Self::Path { query, from_port: false } => query.get(tid),
            Self::Join(query) => query.port_gid(port.gid()).mad(Method::SET, tid),
            Self::Leave(query) => query.delete(tid),
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

    /// Whether it takes something back that subnet administration would keep for us.
    pub(crate) const fn releases(&self) -> bool {
        match self {
            Self::Leave(_) => true,
            Self::Inform(inform) => inform.subscribe == 0,
            Self::Datagram(mad) => {
                is_membership(mad.header.attribute_id) && mad.header.method.get() == Method::DELETE.get()
            }
            Self::Path { .. } | Self::Join(_) => false,
        }
    }

    /// All notices of this kind, from whomever and about whatever.
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

    /// The end of that.
    pub(crate) fn unsubscribe(trap: TrapNumber) -> Self {
        match Self::subscribe(trap) {
            Self::Inform(inform) => Self::Inform(InformInfo { subscribe: 0, ..inform }),
            other => other,
        }
    }

    /// What a client's QUERY_SA asks: the fields that are not zero, as C ibacm asks. How many paths there may be and
    /// their preference are the daemon's business.
    pub(crate) fn of_client(path: &PathRecord) -> Self {
        let query = Query::from_non_zero(*path).without(PathMask::NUM_PATH | PathMask::PREFERENCE);
        Self::Path { query, from_port: false }
    }
}
