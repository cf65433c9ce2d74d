//! The administrator's answer to a request of one datagram.
use crate::{Counters, PortId, Subnet};
use ib_mad::{
    AttributeId, Method, Status, Wire, as_bytes,
    sa::{McMemberRecord, PathRecord, SA_CLASS_VERSION, SaMad, SaRecord},
    wire::Octets,
};

/// Counts a request and how it was answered.
pub(crate) fn count(counters: &mut Counters, request: &SaMad, status: Status) {
    match (request.header.attribute_id, request.header.method) {
        (AttributeId::PATH_RECORD, _) => counters.sa_path_queries += 1,
        (AttributeId::MC_MEMBER_RECORD, Method::SET) => counters.sa_joins += 1,
        (AttributeId::MC_MEMBER_RECORD, Method::DELETE) => counters.sa_leaves += 1,
        _ => counters.sa_other += 1,
    }
    if !status.is_ok() {
        counters.sa_errors += 1;
    }
}

impl Subnet {
    /// The administrator's answer; `None` to what is no request.
    pub(crate) fn administer(&mut self, port: PortId, request: &SaMad) -> Option<SaMad> {
        let header = request.header;
        if header.base_version != 1 {
            return None;
        }
        let mut answer = *request;
        answer.header.method = header.method.response()?;
        let outcome = if header.class_version != SA_CLASS_VERSION {
            Err(Status::BAD_VERSION)
        } else if let Some(status) = self.settings().sa.status.filter(|status| !status.is_ok()) {
            Err(status)
        } else {
            self.look_up(port, request)
        };
        match outcome {
            Ok(data) => answer.data = data,
            Err(status) => {
                answer.header.status = status;
                if status.class_code() != 0 {
                    answer.data = Octets::default();
                }
            }
        }
        count(self.counters_mut(), request, answer.header.status);
        Some(answer)
    }

    fn look_up(&mut self, port: PortId, request: &SaMad) -> Result<Octets<200>, Status> {
        let mask = request.sa.component_mask.get();
        match (request.header.attribute_id, request.header.method) {
            (AttributeId::PATH_RECORD, Method::GET) => {
                self.find_path(port, asked::<PathRecord>(request)?, mask).map(|record| data(&record))
            }
            (AttributeId::MC_MEMBER_RECORD, Method::GET) => {
                self.find_member(asked::<McMemberRecord>(request)?, mask).map(|record| data(&record))
            }
            (AttributeId::MC_MEMBER_RECORD, Method::SET) => {
                self.join(asked::<McMemberRecord>(request)?, mask).map(|record| data(&record))
            }
            (AttributeId::MC_MEMBER_RECORD, Method::DELETE) => {
                self.leave(asked::<McMemberRecord>(request)?, mask).map(|record| data(&record))
            }
            (AttributeId::INFORM_INFO, Method::SET) => self.inform(port, request),
            (AttributeId::CLASS_PORT_INFO, Method::GET) => Ok(data(&Octets(CLASS_PORT_INFO))),
            _ => Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED),
        }
    }
}

/// What is no record.
pub(super) fn asked_as<T: Wire>(request: &SaMad) -> Result<&T, Status> {
    T::parse_prefix(&request.data.0).map(|(asked, _)| asked).map_err(|_| Status::INVALID_FIELD)
}

pub(super) fn asked<R: SaRecord>(request: &SaMad) -> Result<&R, Status> {
    request.record::<R>().map_err(|_| Status::INVALID_FIELD)
}

/// A record as the data of an answer.
fn data<R: Wire>(record: &R) -> Octets<200> {
    let mut data = Octets::default();
    data.0.iter_mut().zip(as_bytes(record)).for_each(|(to, from)| *to = *from);
    data
}

/// The first fields of ClassPortInfo (IBTA 13.4.8.1), the others are zero: base version 1, class version 2, no optional
/// capability, answers within 4.096 us x 2^18 = 1.1 s.
const CLASS_PORT_INFO: [u8; 8] = [1, SA_CLASS_VERSION, 0, 0, 0, 0, 0, 18];
