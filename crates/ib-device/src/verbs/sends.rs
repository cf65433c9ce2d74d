//! The sends of a queue pair: which are under way, and which ended.
use super::{Completion, CompletionStatus, Context, SendId, address_handle::AddressHandle, region::Region};
use crate::Result;
use std::{collections::VecDeque, sync::Arc};

/// Slots of the send queue, each with memory for a payload.
#[derive(Debug)]
pub(super) struct Sends {
    pub(super) memory: Region,
    /// Slots that nobody uses.
    free: Vec<u32>,
    /// What each other slot is for.
    under_way: Vec<Option<UnderWay>>,
    next: u64,
    /// Ended, and not told yet.
    ended: VecDeque<(SendId, CompletionStatus)>,
}

#[derive(Debug)]
struct UnderWay {
    id: SendId,
    /// Not destroyed while the device may need it.
    _handle: Arc<AddressHandle>,
}

impl Sends {
    pub(super) fn new(context: &Context, depth: u32, max_payload: u32) -> Result<Self> {
        Ok(Self {
            memory: Region::new(context, depth, max_payload)?,
            free: (0..depth).collect(),
            under_way: (0..depth).map(|_| None).collect(),
            next: 0,
            ended: VecDeque::new(),
        })
    }

    /// Whether every slot is in use.
    pub(super) const fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Takes a slot; `None` if every one is in use.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Gives back a slot whose send was refused.
    pub(super) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// The slot's send is under way.
    pub(super) fn begin(&mut self, slot: u32, handle: Arc<AddressHandle>) -> SendId {
        let id = SendId(self.next);
        self.next += 1;
        if let Some(place) = self.under_way.get_mut(slot as usize) {
            *place = Some(UnderWay { id, _handle: handle });
        }
        id
    }

    /// The slot's send ended.
    pub(super) fn end(&mut self, slot: u32, status: CompletionStatus) {
        let send = self.under_way.get_mut(slot as usize).and_then(Option::take);
        if let Some(UnderWay { id, .. }) = send {
            self.free.push(slot);
            self.ended.push_back((id, status));
        }
    }

    /// All that were under way ended without a completion.
    pub(super) fn end_all(&mut self) {
        let lost = self.under_way.iter_mut().filter_map(Option::take);
        self.ended.extend(lost.map(|send| (send.id, CompletionStatus::FLUSHED)));
        self.free = (0..self.memory.slots()).collect();
    }

    /// The next one to tell of.
    pub(super) fn next_ended(&mut self) -> Option<Completion<'static>> {
        self.ended.pop_front().map(|(id, status)| match status {
            CompletionStatus::SUCCESS => Completion::Sent(id),
            status => Completion::SendFailed { id, status },
        })
    }
}
