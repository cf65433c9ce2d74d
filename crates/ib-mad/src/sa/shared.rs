//! Attributes of every class, as subnet administration has them.
use super::record::sa_record;
use crate::notice::{ClassPortInfo, InformInfo, SaNotice};

sa_record! {
    /// A [`ClassPortInfo`] is asked for without a component mask.
    ClassPortInfo CLASS_PORT_INFO ClassPortInfoMask;
}
sa_record! {
    /// An [`InformInfo`] is set without a component mask.
    InformInfo INFORM_INFO InformMask;
}
sa_record! {
    /// A [`SaNotice`] is reported without a component mask.
    SaNotice NOTICE NoticeMask;
}
