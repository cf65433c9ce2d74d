//! EP: what an endpoint is and which addresses it has.
use crate::{acm::Acm, door::Output, id::ClientId};
use acm_wire::client::{ClientStatus, EpHead, Opcode, Reply, ep_reply};
use alloc::vec::Vec;
use ib_mad::wire::Text;

impl Acm {
    pub(crate) fn endpoint_query(&mut self, client: ClientId, tid: [u8; 8], index: u8, port: u8) {
        let ports = &self.context.ports;
        let found = usize::from(index)
            .checked_sub(1)
            .and_then(|place| ports.active(port).nth(place))
            .and_then(|id| ports.endpoint(id))
            .and_then(|endpoint| Some((endpoint, ports.attributes(endpoint.port)?)));
        let Some((endpoint, attributes)) = found else {
            return self.context.reply(client, Reply::refused(Opcode::EP, tid, ClientStatus::EINVAL));
        };
        let head = EpHead {
            device_guid: attributes.device_guid,
            port: attributes.port_number,
            port_count: attributes.port_count,
            pkey: endpoint.pkey,
            provider: Text::new(self.providers.get(endpoint.provider).name().as_bytes()),
            ..EpHead::default()
        };
        let mut bytes = Vec::new();
        ep_reply(tid, index, &head, endpoint.addresses.iter(), |piece| bytes.extend_from_slice(piece));
        self.context.output(Output::LongReply { client, bytes });
    }
}
