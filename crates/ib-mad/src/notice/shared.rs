//! The attributes that have one number in every class.
use super::{ClassPortInfo, InformInfo, Notice};
use crate::{AttributeId, attribute::SharedAttribute};

impl SharedAttribute for ClassPortInfo {
    const ATTRIBUTE: AttributeId = AttributeId::CLASS_PORT_INFO;
}
impl SharedAttribute for Notice {
    const ATTRIBUTE: AttributeId = AttributeId::NOTICE;
}
impl SharedAttribute for InformInfo {
    const ATTRIBUTE: AttributeId = AttributeId::INFORM_INFO;
}
