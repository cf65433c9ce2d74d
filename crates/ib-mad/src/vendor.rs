//! Vendor classes: 0x09 to 0x0F, and 0x30 to 0x4F with a vendor id (IBTA 16.5).
//!
//! ```text
//!  0  common header (24 bytes)
//! 24  data (232 bytes)                          0x09 to 0x0F
//!
//! 24  RMPP header (12 bytes)                    0x30 to 0x4F
//! 36  reserved | vendor (3)
//! 40  data (216 bytes)
//! ```
//!
//! Vendors share the classes of the first range, so [`MadRef::attribute`](crate::MadRef::attribute) does not decode
//! them. A program that knows the device reads [`MlnxGeneralInfo`] by `attribute_as`.
use crate::{
    AttributeId, MadHeader, MgmtClass, VendorId,
    attribute::Attribute,
    rmpp::RmppHeader,
    wire,
    wire::{Be16, Be32, InBytes, Octets, Reserved, Text},
};

wire! {
    /// A datagram of a vendor class 0x09 to 0x0F.
    pub struct VendorMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// Data in the vendor's layout.
        pub data: Octets<232>,
    }
    /// A datagram of a vendor class 0x30 to 0x4F.
    pub struct VendorOuiMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// RMPP header, 12 bytes.
        pub rmpp: RmppHeader,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Vendor that defines the class.
        pub oui: InBytes<VendorId, 3>,
        /// Data in the vendor's layout.
        pub data: Octets<216>,
    }
}

/// Vendor id of OpenIB's tools ibping and ibsysstat.
pub const OPENIB_OUI: VendorId = VendorId::of::<0x1405>();

wire! {
    /// Hardware of a device, 32 bytes.
    pub struct MlnxHardware [32] {
        /// Revision of the hardware.
        pub revision: Be16,
        /// Device id.
        pub device_id: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<24>,
        /// Time since the last reset, in seconds.
        pub up_time: Be32,
    }
    /// Firmware of a device, 64 bytes. Newer devices have their version in the extended fields.
    pub struct MlnxFirmware [64] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Major version.
        pub major: u8,
        /// Minor version.
        pub minor: u8,
        /// Number of the release.
        pub sub_minor: u8,
        /// Number of the build.
        pub build_id: Be32,
        /// Month of the build, in decimal digits of 4 bits.
        pub month: u8,
        /// Day of the build, in decimal digits of 4 bits.
        pub day: u8,
        /// Year of the build, in decimal digits of 4 bits.
        pub year: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<2>,
        /// Time of the build.
        pub hour: Be16,
        /// Id of the board's parameters.
        pub psid: Text<16>,
        /// Version of the parameters.
        pub ini_file_version: Be32,
        /// Major version.
        pub extended_major: Be32,
        /// Minor version.
        pub extended_minor: Be32,
        /// Number of the release.
        pub extended_sub_minor: Be32,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<16>,
    }
    /// Hardware, firmware and software of a Mellanox or NVIDIA device (class 0x0A, attribute 0x17), 136 bytes
    /// (`vendstat.c` of infiniband-diags, `VendorSpec_GeneralInfo` of ibutils2).
    pub struct MlnxGeneralInfo [136] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<8>,
        /// Hardware of the device.
        pub hardware: MlnxHardware,
        /// Firmware of the device.
        pub firmware: MlnxFirmware,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// Major version of the software.
        pub software_major: u8,
        /// Minor version of the software.
        pub software_minor: u8,
        /// Number of the software's release.
        pub software_sub_minor: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<28>,
    }
}

impl Attribute for MlnxGeneralInfo {
    const CLASS: MgmtClass = MgmtClass::new(0x0a);
    const ATTRIBUTE: AttributeId = AttributeId::new(0x17);
}

wire! {
    /// Response to ibping (class 0x32, attribute 0): the responder's name and domain, ended by a 0 byte, 216 bytes
    /// (`ibping.c` of infiniband-diags).
    pub struct IbPing [216] {
        /// Name of the responder.
        pub host: Text<216>,
    }
}

impl Attribute for IbPing {
    const CLASS: MgmtClass = MgmtClass::new(0x32);
    const ATTRIBUTE: AttributeId = AttributeId::new(0);
    const OUI: Option<VendorId> = Some(OPENIB_OUI);
}

wire! {
    /// Response to `ibsysstat host` (class 0x33, attribute 0x11): the responder's name and domain, ended by a 0 byte,
    /// 216 bytes (`ibsysstat.c` of infiniband-diags).
    pub struct IbSysstatHost [216] {
        /// Name of the responder.
        pub host: Text<216>,
    }
}

impl Attribute for IbSysstatHost {
    const CLASS: MgmtClass = MgmtClass::new(0x33);
    const ATTRIBUTE: AttributeId = AttributeId::new(0x11);
    const OUI: Option<VendorId> = Some(OPENIB_OUI);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mad, MadRef, Method, TransactionId, as_bytes};

    #[test]
    fn general_info_is_where_vendstat_reads_it() {
        let mut mad = [0; 256];
        mad[..4].copy_from_slice(&[1, 0x0a, 1, Method::GET_RESP.get()]);
        mad[17] = 0x17;
        // After the common header and 8 bytes: revision, device id; at 28 of the hardware: the time.
        mad[32..36].copy_from_slice(&[0, 0xa0, 0xd2, 0xf0]);
        mad[60..64].copy_from_slice(&[0, 1, 0x51, 0x80]);
        mad[64..68].copy_from_slice(&[0, 27, 8, 99]);
        mad[72..76].copy_from_slice(&[0x12, 0x24, 0x20, 0x26]);
        mad[80..93].copy_from_slice(b"MT_0000000063");
        mad[100..112].copy_from_slice(&[0, 0, 0, 27, 0, 0, 0x07, 0xd0, 0, 0, 0x0b, 0xb8]);
        mad[128..132].copy_from_slice(&[0, 11, 2, 4]);
        let info: &MlnxGeneralInfo = MadRef::new(&mad).unwrap().attribute_as().unwrap();
        assert_eq!((info.hardware.revision.get(), info.hardware.device_id.get()), (0xa0, 0xd2f0));
        let firmware = &info.firmware;
        assert_eq!((info.hardware.up_time.get(), firmware.major, firmware.sub_minor), (86_400, 27, 99));
        assert_eq!((firmware.month, firmware.day, firmware.year.get()), (0x12, 0x24, 0x2026));
        assert_eq!(firmware.psid.as_text(), b"MT_0000000063");
        assert_eq!((firmware.extended_major.get(), firmware.extended_sub_minor.get()), (27, 3000));
        assert_eq!((info.software_major, info.software_sub_minor), (11, 4));
    }

    #[test]
    fn ping_is_built_and_answered_with_a_name() {
        let ask = Mad::request(Method::GET, 0, TransactionId::new(1), &IbPing::ZERO);
        assert_eq!(&as_bytes(&ask)[36..40], [0, 0x00, 0x14, 0x05]);
        let answer = ask.answer_with(&IbPing { host: Text::new(b"node1.example") }).unwrap();
        let mad = MadRef::new(as_bytes(&answer)).unwrap();
        assert_eq!(mad.attribute_as::<IbPing>().unwrap().host.as_text(), b"node1.example");
        assert!(mad.attribute_as::<IbSysstatHost>().is_err());
    }
}
