//! `requests!`: the request functions of a class, the same for all classes.

/// Implements `get` and `set` of the class's attributes for a class's datagram.
macro_rules! requests {
    ($mad:ident of $class:ident version $version:expr) => {
        impl $mad {
            /// Returns a request to read an attribute. An attribute of another class does not compile.
            #[must_use]
            pub fn get<A: $crate::attribute::Attribute>(modifier: u32, tid: $crate::TransactionId) -> Self {
                const { assert!(A::CLASS.get() == $crate::MgmtClass::$class.get(), "an attribute of another class") };
                let (class, method) = ($crate::MgmtClass::$class, $crate::Method::GET);
                let mut header = $crate::MadHeader::new(class, $version, method, A::ATTRIBUTE, tid);
                header.attribute_modifier = $crate::wire::Be32::new(modifier);
                Self { header, ..Self::default() }
            }

            /// Returns a request to change an attribute. An attribute of another class does not compile.
            #[must_use]
            pub fn set<A: $crate::attribute::Attribute>(
                modifier: u32,
                tid: $crate::TransactionId,
                attribute: &A,
            ) -> Self {
                let mut own = Self::get::<A>(modifier, tid);
                own.header.method = $crate::Method::SET;
                own.data = $crate::wire::Octets::of(attribute);
                own
            }
        }
    };
}
pub(crate) use requests;

#[cfg(test)]
mod tests {
    use crate::{
        Bkey, CcKey, MadRef, Method, TransactionId, as_bytes,
        baseboard::{BaseboardMad, ReadVpd},
        congestion::{CongestionInfo, CongestionKeyInfo, CongestionMad},
        device::{DeviceMad, IoUnitInfo},
        smp::{NodeInfo, PortInfo, Smp},
    };

    #[test]
    fn requests_of_every_class_are_read_back() {
        let tid = TransactionId::new(7);
        let smp = Smp::get::<NodeInfo>(1, tid);
        let device = DeviceMad::get::<IoUnitInfo>(1, tid);
        let baseboard = BaseboardMad::get::<ReadVpd>(1, tid);
        let congestion = CongestionMad::get::<CongestionInfo>(1, tid);
        let all = [as_bytes(&smp), as_bytes(&device), as_bytes(&baseboard), as_bytes(&congestion)];
        let seen = all.map(|bytes| {
            let mad = MadRef::new(bytes).unwrap();
            assert_eq!((mad.method(), mad.header().attribute_modifier.get()), (Method::GET, 1));
            assert_eq!((mad.header().base_version, mad.header().transaction_id), (1, tid));
            (mad.attribute().unwrap().structure().unwrap().name, mad.header().class_version)
        });
        let names = [("NodeInfo", 1), ("IoUnitInfo", 1), ("ReadVpd", 1), ("CongestionInfo", 2)];
        assert_eq!(seen, names);
        assert_eq!((baseboard.bkey, congestion.cc_key), (Bkey::from(0), CcKey::from(0)));
    }

    #[test]
    fn set_attribute_is_read_back() {
        let tid = TransactionId::new(7);
        let port = PortInfo { gid_prefix: 5.into(), ..PortInfo::default() };
        let mad = Smp::set(3, tid, &port);
        assert_eq!(MadRef::new(as_bytes(&mad)).unwrap().attribute_as::<PortInfo>(), Ok(&port));
        let key = CongestionKeyInfo { cc_key: 9.into(), ..CongestionKeyInfo::default() };
        let mad = CongestionMad::set(0, tid, &key);
        let seen = MadRef::new(as_bytes(&mad)).unwrap();
        assert_eq!((seen.method(), seen.attribute_as::<CongestionKeyInfo>()), (Method::SET, Ok(&key)));
    }
}
