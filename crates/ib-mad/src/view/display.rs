//! Text of datagrams.
use super::{MadRef, layout::Format};
use crate::{MadHeader, MgmtClass, Status, VendorId, Wire as _, mad::OUI, vendor::is_vendor_oui, wire::InBytes};
use core::fmt;

impl MadRef<'_> {
    /// Returns the vendor that defines the class, if the class has one.
    fn vendor(&self) -> Option<VendorId> {
        let bytes = self.as_bytes().get(OUI..).filter(|_| is_vendor_oui(self.class()))?;
        InBytes::<VendorId, 3>::parse(bytes).ok().map(|vendor| vendor.get())
    }

    fn has_error(&self) -> bool {
        self.header().check_status().is_err()
    }

    /// Returns the name of the attribute, if it has a type in this crate.
    fn attribute_name(&self) -> Option<&'static str> {
        let header = self.header();
        match self.format() {
            Format::InfiniBand => header.attribute_id.name(header.mgmt_class),
            #[cfg(feature = "opa")]
            Format::OmniPath => crate::opa::OpaAttribute::name(header.mgmt_class, header.attribute_id),
            _ => None,
        }
    }
}

impl fmt::Display for MadRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.header();
        if self.format() != Format::InfiniBand {
            write!(f, "version {:#x} {:#x} ", header.base_version, header.class_version)?;
        }
        match header.mgmt_class.name() {
            Some(name) => f.write_str(name)?,
            None => write!(f, "class {:#04x}", header.mgmt_class.get())?,
        }
        if let Some(vendor) = self.vendor() {
            write!(f, " vendor {vendor}")?;
        }
        write!(f, " {} ", header.method)?;
        match self.attribute_name() {
            Some(name) => f.write_str(name)?,
            None if header.mgmt_class == MgmtClass::ACM => {}
            None => write!(f, "attribute {}", header.attribute_id)?,
        }
        write!(f, " modifier {:#x} tid {}", header.attribute_modifier.get(), header.transaction_id)?;
        if header.mgmt_class == MgmtClass::SUBN_DIRECTED_ROUTE {
            let [pointer, count] = header.class_specific.get().to_be_bytes();
            write!(f, " hop {pointer}/{count}")?;
            f.write_str(if self.status() == header.status { "" } else { " back" })?;
        }
        show_status(self.status(), header, f)?;
        if let Some(rmpp) = self.rmpp().filter(|rmpp| rmpp.flags.active()) {
            write!(f, " RMPP {} {}/{:#x}", rmpp.rmpp_type, rmpp.data1.get(), rmpp.data2.get())?;
            if rmpp.status != 0 {
                write!(f, " ({})", rmpp.reason())?;
            }
        }
        if let Some(sa) = self.sa().filter(|sa| sa.component_mask.get() != 0) {
            write!(f, " mask {:#x}", sa.component_mask.get())?;
        }
        f.write_str(if f.alternate() { "\n" } else { ": " })?;
        if let Some(query) = self.query() {
            return fmt::Display::fmt(&query, f);
        }
        let attribute = match self.attribute() {
            // An error usually has no data; zeros would look like a record.
            Ok(attribute) if self.has_error() && attribute.as_bytes().iter().all(|byte| *byte == 0) => {
                return f.write_str("no data");
            }
            Ok(attribute) => attribute,
            Err(error) => return fmt::Display::fmt(&error, f),
        };
        fmt::Display::fmt(&attribute, f)?;
        match attribute.notice().map(|notice| notice.details(header.mgmt_class)) {
            Some(details) if f.alternate() => write!(f, "{details:#}"),
            Some(details) => write!(f, " {details}"),
            None => Ok(()),
        }
    }
}

fn show_status(status: Status, header: &MadHeader, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (status.is_ok(), status.text(header.mgmt_class)) {
        (true, _) => Ok(()),
        (false, Some(text)) => write!(f, " status {:#06x} ({text})", status.get()),
        (false, None) => write!(f, " status {:#06x}", status.get()),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{
        Method, TransactionId, as_bytes,
        baseboard::BaseboardMad,
        notice::{GenericType, Notice, TrapNumber},
        perf::{PerfMad, PortCounters},
        sa::{PathRecord, Query, SaMad},
        smp::{DrPath, DrSmp, NodeInfo},
        vendor::{OPENIB_OUI, VendorOuiMad},
    };
    use std::{format, string::ToString as _};

    #[test]
    fn attribute_and_status_names_depend_on_the_class() {
        let mut mad = PerfMad::get(TransactionId::new(1), &PortCounters::default());
        mad.header.method = Method::GET_RESP;
        mad.header.status = Status::SA_NO_RECORDS;
        mad.data.0[24..28].copy_from_slice(&[0, 1, 0, 0]);
        let text = MadRef::new(as_bytes(&mad)).unwrap().to_string();
        assert!(text.starts_with("Perf GetResp PortCounters modifier 0x0 "), "{text}");
        assert!(text.contains(" status 0x0300: ") && text.contains("port_xmit_data=65536,"), "{text}");
        let header = format!("{:?}", mad.header);
        assert!(header.contains("status=0x0300") && header.contains("attribute_id=PortCounters"), "{header}");
        mad.header.mgmt_class = MgmtClass::SUBN_ADM;
        let header = format!("{:?}", mad.header);
        assert!(header.contains("status=SA: no records") && header.contains("attribute_id=PortInfoRecord"), "{header}");
        assert_eq!(format!("{:?} {:?}", mad.header.attribute_id, mad.header.status), "0x0012 0x0300");
    }

    #[test]
    fn class_of_a_vendor_is_printed_with_its_vendor() {
        let mut mad = VendorOuiMad { oui: OPENIB_OUI.into(), ..VendorOuiMad::default() };
        mad.header.base_version = 1;
        mad.header.mgmt_class = MgmtClass::new(0x32);
        mad.header.method = Method::GET;
        let text = MadRef::new(as_bytes(&mad)).unwrap().to_string();
        assert!(text.starts_with("class 0x32 vendor 0x001405 Get attribute 0x0000 "), "{text}");
    }

    #[test]
    fn error_without_data_is_not_printed_as_a_record() {
        let request = Query::<PathRecord>::new().dlid(4.into()).get(TransactionId::new(1));
        let text = |answer: &SaMad| MadRef::new(as_bytes(answer)).unwrap().to_string();
        let none = text(&request.answer(Status::SA_NO_RECORDS).unwrap());
        assert!(none.ends_with(" status 0x0300 (SA: no records) mask 0x10: no data"), "{none}");
        let empty = text(&request.answer_with(&PathRecord::default()).unwrap());
        assert!(empty.contains(": PathRecord{"), "{empty}");
    }

    #[test]
    fn notice_details_depend_on_the_class() {
        let notice = Notice {
            generic_type: GenericType::default().with_is_generic(true),
            trap_number: TrapNumber::BAD_BKEY,
            ..Notice::default()
        };
        let mut mad = BaseboardMad::default();
        (mad.header.base_version, mad.header.mgmt_class, mad.header.class_version) = (1, MgmtClass::BASEBOARD, 1);
        (mad.header.method, mad.header.attribute_id) = (Method::TRAP, crate::AttributeId::NOTICE);
        mad.data.0[..64].copy_from_slice(as_bytes(&notice));
        let text = MadRef::new(as_bytes(&mad)).unwrap().to_string();
        assert!(text.contains(" BkeyTrap{lid_addr=0, "), "{text}");
    }

    #[test]
    fn response_on_a_directed_route_is_printed_as_going_back() {
        let mut smp = DrSmp::get::<NodeInfo>(&DrPath::try_from(&[1, 2][..]).unwrap(), 0, TransactionId::new(1));
        let mut mad = super::super::MadMut::new(zerocopy::IntoBytes::as_mut_bytes(&mut smp)).unwrap();
        mad.answer(Status::OK).unwrap();
        assert!(mad.view().status().is_ok());
        let text = mad.view().to_string();
        assert!(text.contains(" hop 0/2 back: NodeInfo{"), "{text}");
        assert!(format!("{:?}", mad.header()).contains("status=success, on its way back"));
    }
}
