//! A subnet administrator with a list of nodes. It answers Get and GetTable of NodeRecord, and keeps the transfers of
//! its tables until they are acknowledged: `cargo run --example answer_queries`.
use core::{error::Error, time::Duration};
use ib_mad::{
    AttributeId, Lid, MadRef, Method, Status, TransactionId, as_bytes,
    rmpp::{Handled, Reassembler, ReassemblerLimits, Received, SegmenterLimits, StartError, Transfers},
    sa::{NodeRecord, Query, SaMad, Table, TableWriter, table_length},
};

struct Administrator {
    nodes: Vec<NodeRecord>,
    /// Unfinished transfers of tables by the LID of their requester; each owns its bytes.
    transfers: Transfers<Lid, Table<Vec<u8>>, 64>,
}

impl Administrator {
    /// Handles a datagram from a LID and returns the datagrams to send.
    fn handle(&mut self, now: Duration, from: Lid, mad: &SaMad) -> Result<Vec<[u8; 256]>, Box<dyn Error>> {
        if self.transfers.handle(now, &from, as_bytes(mad))? == Handled::Request {
            match (mad.header.attribute_id, mad.header.method) {
                (AttributeId::NODE_RECORD, Method::GET) => return Ok(vec![self.one(mad)?]),
                (AttributeId::NODE_RECORD, Method::GET_TABLE) => match self.transfers.start(from, self.table(mad)?) {
                    Err(StartError::Full) => return Ok(vec![bytes(&mad.answer(Status::BUSY)?)?]),
                    started => started?,
                },
                _ => return Ok(vec![bytes(&mad.answer(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED)?)?]),
            }
        }
        // A server with several requesters sends each datagram to its receiver.
        Ok(core::iter::from_fn(|| self.transfers.poll_send(now)).map(|(_, segment)| segment).collect())
    }

    fn one(&self, request: &SaMad) -> Result<[u8; 256], Box<dyn Error>> {
        let query = Query::<NodeRecord>::from_mad(request)?;
        bytes(&request.answer_one(query.select(&self.nodes))?)
    }

    fn table(&self, request: &SaMad) -> Result<Table<Vec<u8>>, Box<dyn Error>> {
        let query = Query::<NodeRecord>::from_mad(request)?;
        let found: Vec<&NodeRecord> = query.select(&self.nodes).collect();
        let mut table = TableWriter::new(request, vec![0; table_length::<NodeRecord>(found.len())])?;
        found.into_iter().try_for_each(|node| table.push(node))?;
        Ok(table.finish())
    }
}

fn bytes(answer: &SaMad) -> Result<[u8; 256], Box<dyn Error>> {
    Ok(as_bytes(answer).try_into()?)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let node = |lid| NodeRecord { lid: Lid::new(lid), ..NodeRecord::default() };
    let transfers = Transfers::new(SegmenterLimits::default());
    let mut administrator = Administrator { nodes: (1..=9).map(node).collect(), transfers };
    let (now, from) = (Duration::ZERO, Lid::new(4));

    for lid in [Lid::new(3), Lid::new(10)] {
        for answer in administrator.handle(
            now,
            from,
            &Query::<NodeRecord>::new().lid(lid).request(Method::GET, TransactionId::new(1)),
        )? {
            println!("{}", MadRef::new(&answer)?);
        }
    }

    // The requester of a table acknowledges its segments.
    let mut receiver = Reassembler::new(vec![0; 4096], ReassemblerLimits::default());
    let mut queue = administrator.handle(
        now,
        from,
        &Query::<NodeRecord>::new().request(Method::GET_TABLE, TransactionId::new(2)),
    )?;
    while let Some(segment) = (!queue.is_empty()).then(|| queue.remove(0)) {
        if let Received::More(Some(ack)) | Received::Done(Some(ack)) = receiver.handle(now, &segment)? {
            queue.extend(administrator.handle(now, from, ib_mad::Wire::parse(&ack)?)?);
        }
    }
    let nodes = MadRef::new(receiver.message().ok_or("the table is incomplete")?)?.records::<NodeRecord>()?;
    println!("{} nodes in the table, {} transfers left", nodes.count(), administrator.transfers.len());
    Ok(())
}
