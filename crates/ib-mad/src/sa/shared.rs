//! Attributes that every class has, as records of subnet administration.
use super::record::sa_record;
use crate::{
    Gid, Lid, Qpn, TimeCode,
    notice::{ClassPortInfo, InformInfo, InformType, Producer, SaNotice, TrapNumber},
};

sa_record! {
    /// Component mask of a [`ClassPortInfo`]; requests have an empty mask.
    ClassPortInfo CLASS_PORT_INFO ClassPortInfoMask;
}
sa_record! {
    /// Component mask of an [`InformInfo`]. `OpenSM` accepts a Set without a mask and then uses all fields;
    /// `srp_daemon` of rdma-core sets the bits of the fields that it fills in (`srp_ib_types.h`).
    InformInfo INFORM_INFO InformMask;
    /// GID of the port to which the notices refer.
    GID = 0x1 gid: Gid;
    /// First LID of the range to which the notices refer.
    LID_RANGE_BEGIN = 0x2 lid_range_begin: Lid;
    /// Last LID of the range to which the notices refer.
    LID_RANGE_END = 0x4 lid_range_end: Lid;
    /// Notices of the specification (1) or of a vendor (0).
    IS_GENERIC = 0x10 is_generic: u8;
    /// Subscribe (1) or unsubscribe (0).
    SUBSCRIBE = 0x20 subscribe: u8;
    /// Type of the notices, from fatal to informational; 0xffff = all.
    TYPE = 0x40 notice_type: InformType;
    /// Trap number, or the device id of a vendor's notice.
    TRAP_NUMBER = 0x80 trap_number: TrapNumber;
    /// Queue pair that receives the reports.
    QPN = 0x100 qpn_time.qpn / with_qpn: Qpn;
    /// Maximum time of the subscriber's response to a report.
    RESP_TIME_VALUE = 0x400 qpn_time.resp_time_value / with_resp_time_value: TimeCode;
    /// Kind of node that produces the notices.
    PRODUCER = 0x1000 producer: Producer;
}
sa_record! {
    /// Component mask of a [`SaNotice`]; reports have an empty mask.
    SaNotice NOTICE NoticeMask;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Method, TransactionId, sa::Query};

    /// rdma-core's srp_daemon subscribes to trap 64 and ends the subscription.
    #[test]
    fn inform_info_masks_are_those_of_srp_daemon() {
        let subscribe = Query::<InformInfo>::new()
            .lid_range_begin(Lid::PERMISSIVE)
            .is_generic(1)
            .subscribe(1)
            .notice_type(InformType::SUBNET_MANAGEMENT)
            .trap_number(TrapNumber::GID_IN_SERVICE)
            .producer(Producer::CLASS_MANAGER);
        assert_eq!(subscribe.request(Method::SET, TransactionId::new(1)).sa.component_mask.get(), 0x10f2);
        assert_eq!(
            subscribe.qpn(Qpn::checked(5).unwrap()).request(Method::SET, TransactionId::new(1)).sa.component_mask.get(),
            0x11f2
        );
        assert_eq!(crate::as_bytes(subscribe.record())[18..28], [0, 0, 0, 0, 1, 1, 0, 3, 0, 64]);
    }

    /// The mask bits are three positions lower than those of the same fields in an InformInfoRecord.
    #[test]
    fn inform_info_bits_follow_those_of_its_record() {
        use crate::sa::{InformInfoRecord, SaRecord};
        for component in InformInfo::COMPONENTS {
            let found = InformInfoRecord::COMPONENTS.iter().find(|other| other.mask == component.mask << 3);
            assert_eq!(found.and_then(|other| other.field.strip_prefix("inform_info.")), Some(component.field));
        }
        assert_eq!(InformInfo::COMPONENTS.len(), 10);
    }
}
