//! The posted and the completed sends of a queue pair.
use super::{Completion, CompletionStatus, Context, SendId, address_handle::AddressHandle, region::Region};
use crate::Result;
use std::{collections::VecDeque, sync::Arc};

/// The slots of the send queue, each with memory for a payload.
#[derive(Debug)]
pub(super) struct Sends {
    pub(super) memory: Region,
    /// Unused slots.
    free: Vec<u32>,
    /// The sends that wait for their completion, by slot.
    posted: Vec<Option<PostedSend>>,
    next: u64,
    /// Completed sends that were not reported yet.
    completed: VecDeque<(SendId, CompletionStatus)>,
}

#[derive(Debug)]
struct PostedSend {
    id: SendId,
    /// Keeps the handle, which the device may still need.
    _handle: Arc<AddressHandle>,
}

impl Sends {
    pub(super) fn new(context: &Context, depth: u32, max_payload: u32) -> Result<Self> {
        Ok(Self {
            memory: Region::new(context, depth, max_payload)?,
            free: (0..depth).collect(),
            posted: (0..depth).map(|_| None).collect(),
            next: 0,
            completed: VecDeque::new(),
        })
    }

    /// True if every slot is in use.
    pub(super) const fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Removes a slot from the free slots; `None` if every slot is in use.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Frees a slot whose send was rejected.
    pub(super) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Marks the slot's send as posted and returns its id.
    pub(super) fn begin(&mut self, slot: u32, handle: Arc<AddressHandle>) -> SendId {
        let id = SendId(self.next);
        self.next += 1;
        if let Some(posted) = self.posted.get_mut(slot as usize) {
            *posted = Some(PostedSend { id, _handle: handle });
        }
        id
    }

    /// Marks the slot's send as completed and frees the slot.
    pub(super) fn end(&mut self, slot: u32, status: CompletionStatus) {
        let send = self.posted.get_mut(slot as usize).and_then(Option::take);
        if let Some(PostedSend { id, .. }) = send {
            self.free.push(slot);
            self.completed.push_back((id, status));
        }
    }

    /// Marks all posted sends as flushed and frees all slots.
    pub(super) fn end_all(&mut self) {
        let lost = self.posted.iter_mut().filter_map(Option::take);
        self.completed.extend(lost.map(|send| (send.id, CompletionStatus::FLUSHED)));
        self.free = (0..self.memory.slots()).collect();
    }

    /// Returns the next completion of a send.
    pub(super) fn next_completion(&mut self) -> Option<Completion<'static>> {
        self.completed.pop_front().map(|(id, status)| match status {
            CompletionStatus::SUCCESS => Completion::Sent(id),
            status => Completion::SendFailed { id, status },
        })
    }
}
