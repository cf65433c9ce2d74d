//! What is asked of subnet administration: as much as is needed to build the datagram when its turn comes.
use crate::port::PortAttributes;
use ib_mad::{
    AttributeId, Method, TransactionId,
    sa::{McMemberRecord, PathMask, PathRecord, Query, SaMad},
};

/// What is asked of subnet administration. Where it says so, the port's GID is put in when the datagram is built: it
/// may be another one by then.
#[derive(Clone, Copy, Debug)]
pub enum Question {
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
}

impl Question {
    /// Whether it is about being in a group. Those go first, because nothing works without them, and one at a time, so
    /// that leaving a group and joining it again cannot change places on the way.
    pub(crate) const fn is_membership(&self) -> bool {
        matches!(self, Self::Join(_) | Self::Leave(_))
    }

    /// The attribute that an answer must have.
    pub(crate) const fn attribute(&self) -> AttributeId {
        match self {
            Self::Path { .. } => AttributeId::PATH_RECORD,
            Self::Join(_) | Self::Leave(_) => AttributeId::MC_MEMBER_RECORD,
        }
    }

    /// The datagram that asks it from this port.
    pub(crate) fn mad(&self, port: &PortAttributes, tid: TransactionId) -> SaMad {
        match self {
            Self::Path { query, from_port: true } => query.sgid(port.gid()).get(tid),
            Self::Path { query, from_port: false } => query.get(tid),
            Self::Join(query) => query.port_gid(port.gid()).mad(Method::SET, tid),
            Self::Leave(query) => query.delete(tid),
        }
    }

    /// What a client's QUERY_SA asks: the fields that are not zero, as C ibacm asks. How many paths there may be and
    /// their preference are the daemon's business.
    pub(crate) fn of_client(path: &PathRecord) -> Self {
        let query = Query::from_non_zero(*path).without(PathMask::NUM_PATH | PathMask::PREFERENCE);
        Self::Path { query, from_port: false }
    }
}
