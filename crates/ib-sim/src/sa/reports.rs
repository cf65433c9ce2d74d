//! Reports that wait for their answers.
use crate::PortId;
use alloc::{boxed::Box, collections::BTreeMap};
use ib_mad::sa::SaMad;

/// A report that is not answered yet.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) port: PortId,
    pub(super) mad: Box<SaMad>,
    pub(super) left: u32,
}

/// Reports by their transaction id.
pub(crate) type Reports = BTreeMap<u64, Report>;
