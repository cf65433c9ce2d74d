//! Requirements on a path beyond its ends.
use acm_client::ib_mad::{ParseIdError, Pkey, ServiceId, ServiceLevel, id::ServiceRange, sa::PathRecord};

/// Requirements on a path. Options that are not given leave the field open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Requirements {
    /// Service: a number, `tcp:PORT`, `udp:PORT`, `ib:PORT`, `lustre`, `storage-scale`, `iser`, `nfs-rdma` or `rdma`. The
    /// daemon's option path_service_ids determines which services are distinguished.
    #[arg(long, value_name = "ID", value_parser = service_id, requires = "dest")]
    service_id: Option<ServiceId>,
    /// Partition.
    #[arg(long, value_name = "PKEY", requires = "dest")]
    pkey: Option<Pkey>,
    /// Leave the partition and the service level to the subnet administrator. The daemon resolves the address and then
    /// queries the subnet administrator for the path.
    #[arg(long, requires = "dest", conflicts_with_all = ["pkey", "sl", "cached", "diff", "trace"])]
    any_pkey: bool,
    /// Service level.
    #[arg(long, value_name = "SL", requires = "dest")]
    sl: Option<ServiceLevel>,
    /// Quality of service class, up to 4095.
    #[arg(long, value_name = "CLASS", value_parser = clap::value_parser!(u16).range(..4096), requires = "dest")]
    qos_class: Option<u16>,
}

/// Parses a service.
pub(crate) fn service_id(text: &str) -> Result<ServiceId, String> {
    let range: ServiceRange = text.parse().map_err(|error: ParseIdError| error.to_string())?;
    range.for_query().ok_or_else(|| "one service is meant, not a range".to_owned())
}

impl Requirements {
    /// Reports whether there are no requirements.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the conditions of the query to the subnet administrator that follows the resolution of the address.
    pub(crate) fn of_later_query(&self) -> Option<PathRecord> {
        self.any_pkey.then(|| self.apply_to(PathRecord::default()))
    }

    /// Returns the requirements of the request to the daemon.
    pub(crate) fn of_request(&self) -> Self {
        if self.any_pkey { Self::default() } else { *self }
    }

    /// Adds the requirements to the record of a request.
    pub(crate) fn apply_to(&self, path: PathRecord) -> PathRecord {
        let mut qos_sl = path.qos_sl;
        qos_sl = self.sl.map_or(qos_sl, |sl| qos_sl.with_sl(sl));
        qos_sl = self.qos_class.map_or(qos_sl, |class| qos_sl.with_qos_class(class));
        PathRecord {
            service_id: self.service_id.unwrap_or(path.service_id),
            pkey: self.pkey.unwrap_or(path.pkey),
            qos_sl,
            ..path
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_parsed_by_name_and_number() {
        for (text, id) in [
            ("lustre", 0x0106_03db),
            ("storage-scale", 0x0106_04a7),
            ("tcp:987", 0x0106_03db),
            ("udp:1", 0x0111_0001),
            ("ib:65535", 0x013f_ffff),
            ("0x1000000000000000", 0x1000_0000_0000_0000),
            ("7", 7),
        ] {
            assert_eq!(service_id(text), Ok(ServiceId::new(id)), "{text}");
        }
        for bad in ["", "tcp", "tcp:", "tcp:65536", "sctp:1", "x", "tcp:1-2"] {
            assert!(service_id(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn fields_without_requirement_stay() {
        let path = PathRecord { pkey: Pkey::new(0x8001), ..PathRecord::default() };
        assert_eq!(Requirements::default().apply_to(path), path);
        let sl = ServiceLevel::of::<3>();
        let record = Requirements { sl: Some(sl), qos_class: Some(9), ..Requirements::default() }.apply_to(path);
        assert_eq!((record.pkey, record.qos_sl.sl(), record.qos_sl.qos_class()), (path.pkey, sl, 9));
    }
}
