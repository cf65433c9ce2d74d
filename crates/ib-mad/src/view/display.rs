//! Text of datagrams.
use super::{AttributeRef, MadRef, layout::Format};
use crate::{
    Lid, MadHeader, MgmtClass, Mkey, Status, VendorId, Wire, mad::OUI, rmpp::RmppType, smp::Smp, wire::InBytes,
};
use core::fmt;

impl MadRef<'_> {
    /// Returns the vendor that defines the class, if the class has one.
    fn vendor(&self) -> Option<VendorId> {
        let bytes = self.as_bytes().get(OUI..).filter(|_| self.class().is_vendor_oui())?;
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

impl MadRef<'_> {
    /// Prints the M_Key of a datagram of subnet management, and its route if it is directed.
    fn show_management(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.header();
        if header.mgmt_class == MgmtClass::SUBN_DIRECTED_ROUTE {
            let [pointer, count] = header.class_specific.get().to_be_bytes();
            write!(f, " hop {pointer}/{count}")?;
            f.write_str(if self.status() == header.status { "" } else { " back" })?;
        }
        if let Some(route) = self.directed_route() {
            f.write_str(" path 0")?;
            let ports = route.initial_path.0.iter().skip(1).take(route.hop_count.into());
            ports.into_iter().try_for_each(|port| write!(f, ",{port}"))?;
            if (route.dr_slid, route.dr_dlid) != (Lid::PERMISSIVE, Lid::PERMISSIVE) {
                write!(f, " from LID {} to LID {}", route.dr_slid, route.dr_dlid)?;
            }
        }
        // The M_Key is at the same place in both classes.
        let is_management = header.mgmt_class.attribute_class() == MgmtClass::SUBN_LID_ROUTED;
        match <Smp as Wire>::parse(self.as_bytes()) {
            Ok(smp) if is_management && smp.mkey != Mkey::default() => write!(f, " M_Key {}", smp.mkey),
            _ => Ok(()),
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
        self.show_management(f)?;
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
        if self.rmpp().is_some_and(|rmpp| matches!(rmpp.rmpp_type, RmppType::ACK | RmppType::STOP | RmppType::ABORT)) {
            return f.write_str("no data");
        }
        if let Some(query) = self.query() {
            return fmt::Display::fmt(&query, f);
        }
        if let Some(records) = self.table() {
            return show_table(records, f);
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
        match attribute {
            #[cfg(feature = "opa")]
            AttributeRef::Opa(crate::opa::OpaAttribute::OpaNotice(notice)) => show_details(&notice.details(), f),
            _ => attribute.notice().map_or(Ok(()), |notice| show_details(&notice.details(header.mgmt_class), f)),
        }
    }
}

fn show_details(details: &impl fmt::Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(if f.alternate() { "" } else { " " })?;
    details.fmt(f)
}

/// Prints the number of records and the first one, or all records with their numbers.
fn show_table<'a>(records: impl Iterator<Item = AttributeRef<'a>> + Clone, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let count = records.clone().count();
    match (count, records.clone().next()) {
        (0, _) | (_, None) => f.write_str("no records"),
        (1, Some(record)) => fmt::Display::fmt(&record, f),
        (_, Some(first)) if !f.alternate() => write!(f, "{count} records, the first: {first}"),
        _ => (1..).zip(records).try_for_each(|(number, record)| write!(f, "record {number} of {count}: {record:#}")),
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
        Mad, Method, TransactionId, as_bytes,
        baseboard::BaseboardMad,
        notice::{GenericType, Notice, TrapNumber},
        perf::PortCounters,
        rmpp::{Segmenter, SegmenterLimits},
        sa::{PathRecord, Query, SaMad, TableWriter, table_length},
        smp::{DrPath, DrSmp, NodeInfo},
        vendor::{OPENIB_OUI, VendorOuiMad},
    };
    use std::{format, string::ToString as _};

    #[test]
    fn attribute_and_status_names_depend_on_the_class() {
        let mut mad = Mad::request(Method::GET, 0, TransactionId::new(1), &PortCounters::default());
        mad.header.method = Method::GET_RESP;
        mad.header.status = Status::SA_NO_RECORDS;
        mad.body.0[40 + 24..40 + 28].copy_from_slice(&[0, 1, 0, 0]);
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
        let request = Query::<PathRecord>::new().dlid(4.into()).request(Method::GET, TransactionId::new(1));
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

    /// A table of paths with these LIDs in one segment of RMPP.
    fn table(lids: &[u16]) -> std::vec::Vec<u8> {
        let request = Query::<PathRecord>::new().request(Method::GET_TABLE, TransactionId::new(1));
        let mut table = TableWriter::new(&request, std::vec![0; table_length::<PathRecord>(lids.len())]).unwrap();
        for lid in lids {
            table.push(&PathRecord { dlid: (*lid).into(), ..PathRecord::default() }).unwrap();
        }
        let mut sender = Segmenter::new(table.finish(), SegmenterLimits::default()).unwrap();
        sender.poll_send(core::time::Duration::ZERO).unwrap().to_vec()
    }

    #[test]
    fn table_is_printed_with_the_number_of_its_records() {
        let show = |bytes: &[u8]| {
            let mad = MadRef::new(bytes).unwrap();
            (mad.to_string(), format!("{mad:#}"))
        };
        let (line, lines) = show(&table(&[4, 5, 6]));
        assert!(line.contains(": 3 records, the first: PathRecord{") && line.contains("dlid=4"), "{line}");
        for (number, lid) in [(1, 4), (2, 5), (3, 6)] {
            let record = lines.split(&format!("\nrecord {number} of 3: PathRecord\n")).nth(1).unwrap();
            let dlid = record.lines().find(|line| line.trim_start().starts_with("dlid")).unwrap();
            assert!(dlid.ends_with(&format!(" {lid}")), "{dlid}");
        }
        let (line, lines) = show(&table(&[9]));
        assert!(line.contains(": PathRecord{") && lines.contains("\nPathRecord\n"), "{line} {lines}");
        assert!(show(&table(&[])).0.ends_with(": no records"));
        for kind in [RmppType::ACK, RmppType::STOP, RmppType::ABORT] {
            let mut bytes = table(&[4]);
            bytes[25] = kind.get();
            let line = show(&bytes).0;
            assert!(line.contains(&format!(" RMPP {kind} ")) && line.ends_with(": no data"), "{line}");
        }
    }

    #[test]
    fn management_is_printed_with_its_key_and_lids() {
        let mut smp = DrSmp::request(Method::GET, &DrPath::new(), 0, TransactionId::new(1), &NodeInfo::ZERO);
        (smp.mkey, smp.dr_slid, smp.dr_dlid) = (Mkey::new(0x1234), Lid::new(5), Lid::new(7));
        let text = MadRef::new(as_bytes(&smp)).unwrap().to_string();
        assert!(text.contains(" hop 0/0 path 0 from LID 5 to LID 7 M_Key 0x0000000000001234: "), "{text}");
        let smp = Smp { mkey: Mkey::new(7), ..Smp::request(Method::GET, 0, TransactionId::new(1), &NodeInfo::ZERO) };
        let text = MadRef::new(as_bytes(&smp)).unwrap().to_string();
        assert!(text.contains(" M_Key 0x0000000000000007: "), "{text}");
    }

    #[test]
    fn response_on_a_directed_route_is_printed_as_going_back() {
        let mut smp = DrSmp::request(
            Method::GET,
            &DrPath::try_from(&[1, 2][..]).unwrap(),
            0,
            TransactionId::new(1),
            &NodeInfo::ZERO,
        );
        let mut mad = super::super::MadMut::new(zerocopy::IntoBytes::as_mut_bytes(&mut smp)).unwrap();
        mad.answer(Status::OK).unwrap();
        assert!(mad.view().status().is_ok());
        let text = mad.view().to_string();
        assert!(text.contains(" hop 0/2 back path 0,1,2: NodeInfo{"), "{text}");
        assert!(format!("{:?}", mad.header()).contains("status=success, on its way back"));
    }
}
