//! The administrator's response to a request of one datagram.
use crate::{counters::Counters, id::PortId, subnet::Subnet};
use ib_mad::{
    AttributeId, Method, Status, TimeCode,
    notice::{CapabilityResponse, ClassPortInfo},
    sa::{Query, SA_CLASS_VERSION, SaCapability2, SaMad, SaRecord},
};

/// Counts a request by the status of its response.
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
    /// Returns the administrator's response; `None` if the datagram is not a request.
    pub(crate) fn sa_response(&mut self, port: PortId, request: &SaMad) -> Option<SaMad> {
        if request.header.method.is_response() || request.header.base_version != 1 {
            return None;
        }
        let response = if request.header.class_version != SA_CLASS_VERSION {
            Err(Status::BAD_VERSION)
        } else if let Some(status) = self.settings().sa.status.filter(|status| !status.is_ok()) {
            Err(status)
        } else {
            self.execute(port, request)
        };
        let response = response.or_else(|status| request.answer(status)).ok()?;
        count(self.counters_mut(), request, response.header.status);
        Some(response)
    }

    fn execute(&mut self, port: PortId, request: &SaMad) -> Result<SaMad, Status> {
        match (request.header.attribute_id, request.header.method) {
            (AttributeId::PATH_RECORD, Method::GET) => with(request, &self.find_path(port, &query(request)?)?),
            (AttributeId::MC_MEMBER_RECORD, Method::GET) => with(request, &self.find_member(&query(request)?)?),
            (AttributeId::MC_MEMBER_RECORD, Method::SET) => with(request, &self.join(&query(request)?)?),
            (AttributeId::MC_MEMBER_RECORD, Method::DELETE) => with(request, &self.leave(&query(request)?)?),
            (AttributeId::INFORM_INFO, Method::SET) => with(request, &self.subscribe(port, query(request)?.record())?),
            (AttributeId::CLASS_PORT_INFO, Method::GET) => with(request, &class_port_info(self.settings().sa.qos)),
            _ => Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED),
        }
    }
}

pub(super) fn query<R: SaRecord>(request: &SaMad) -> Result<Query<R>, Status> {
    Query::from_mad(request).map_err(|_| Status::INVALID_FIELD)
}

fn with<R: SaRecord>(request: &SaMad, record: &R) -> Result<SaMad, Status> {
    request.answer_with(record).map_err(|_| Status::INVALID_FIELD)
}

/// No optional capability but QoS; responses within 4.096 us x 2^18 = 1.1 s.
fn class_port_info(qos: bool) -> ClassPortInfo {
    let second = if qos { SaCapability2::QOS } else { SaCapability2::ZERO };
    ClassPortInfo {
        base_version: 1,
        class_version: SA_CLASS_VERSION,
        capability_response: CapabilityResponse::default()
            .with_resp_time_value(TimeCode::of::<18>())
            .with_capability_mask2(second.bits()),
        ..ClassPortInfo::default()
    }
}
