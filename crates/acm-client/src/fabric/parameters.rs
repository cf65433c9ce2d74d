//! Parameters for a program's traffic before the program has a connection.
use core::{cmp::Ordering, fmt};
use ib_mad::{Mtu, PacketLifeTime, Pkey, Rate, ServiceLevel, opa::OpaMtu, sa::PathRecord};

/// Parameters that are valid for all peers, to configure a program that sends no path queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// P_Key of all paths.
    pub pkey: Pkey,
    /// Service level of all paths.
    pub sl: ServiceLevel,
    /// The smallest MTU.
    pub mtu: Mtu,
    /// The slowest rate.
    pub rate: Rate,
    /// The longest packet lifetime.
    pub packet_life_time: PacketLifeTime,
}

/// The reason why paths have no common parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Differs {
    /// There is no path.
    #[error("there is no path")]
    Nothing,
    /// The paths are in different partitions.
    #[error("some paths are in partition {0}, others in {1}: choose one by --pkey")]
    Pkey(Pkey, Pkey),
    /// The paths have different service levels.
    #[error("some paths have service level {0}, others {1}: ask for each peer, or have the policy give one")]
    ServiceLevel(ServiceLevel, ServiceLevel),
}

impl Parameters {
    /// Returns the parameters that are valid for all paths.
    ///
    /// # Errors
    /// [`Differs`]: there are no paths, or their P_Keys or service levels differ.
    pub fn common<'a>(paths: impl IntoIterator<Item = &'a PathRecord>) -> Result<Self, Differs> {
        let mut common: Option<Self> = None;
        for path in paths.into_iter().map(Self::from) {
            common = Some(match common {
                None => path,
                Some(before) if before.pkey != path.pkey => return Err(Differs::Pkey(before.pkey, path.pkey)),
                Some(before) if before.sl != path.sl => return Err(Differs::ServiceLevel(before.sl, path.sl)),
                Some(before) => before.and(&path),
            });
        }
        common.ok_or(Differs::Nothing)
    }

    /// Returns the MTU in bytes; `None` for an undefined code. Codes 6 and 7 are those of Omni-Path, 8192 and 10240
    /// (`STL_MTU_8192` and `STL_MTU_10240` of opa-fm).
    #[must_use]
    pub const fn mtu_bytes(&self) -> Option<u16> {
        OpaMtu::new(self.mtu.get()).bytes()
    }

    fn and(self, other: &Self) -> Self {
        // The codes of rates are not in the order of the rates.
        let slower = match self.rate.mbps().cmp(&other.rate.mbps()) {
            Ordering::Greater => other.rate,
            Ordering::Equal | Ordering::Less => self.rate,
        };
        Self {
            mtu: self.mtu.min(other.mtu),
            rate: slower,
            packet_life_time: self.packet_life_time.max(other.packet_life_time),
            ..self
        }
    }
}

impl From<&PathRecord> for Parameters {
    fn from(path: &PathRecord) -> Self {
        Self {
            pkey: path.pkey,
            sl: path.qos_sl.sl(),
            mtu: path.mtu.value(),
            rate: path.rate.value(),
            packet_life_time: path.packet_life_time.value(),
        }
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pkey, sl, mtu, rate, .. } = self;
        match self.mtu_bytes() {
            Some(bytes) => write!(f, "P_Key {pkey}, SL {sl}, MTU {bytes}, {rate}"),
            None => write!(f, "P_Key {pkey}, SL {sl}, MTU {mtu}, {rate}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Selected, sa::QosSl};

    fn path(pkey: u16, sl: u8, mtu: Mtu, rate: Rate, life: u8) -> PathRecord {
        PathRecord {
            pkey: Pkey::new(pkey),
            qos_sl: QosSl::default().with_sl(ServiceLevel::masked(sl)),
            mtu: Selected::exactly(mtu),
            rate: Selected::exactly(rate),
            packet_life_time: Selected::exactly(PacketLifeTime::masked(life)),
            ..PathRecord::default()
        }
    }

    #[test]
    fn common_parameters_are_the_weakest_of_all_paths() {
        let fast = path(0x8001, 3, Mtu::B4096, Rate::GBPS_100, 14);
        // The code of 20 Gb/s is greater than the code of 30 Gb/s.
        let slow = path(0x8001, 3, Mtu::B2048, Rate::GBPS_20, 16);
        let other = path(0x8001, 3, Mtu::B4096, Rate::GBPS_30, 12);
        for order in [[&fast, &slow, &other], [&other, &slow, &fast], [&slow, &fast, &other]] {
            assert_eq!(Parameters::common(order), Ok(Parameters::from(&slow)));
        }
        assert_eq!(Parameters::common([&fast]).unwrap().to_string(), "P_Key 0x8001, SL 3, MTU 4096, 100 Gb/s");
    }

    #[test]
    fn mtu_codes_of_omni_path_have_their_bytes() {
        let of = |code| Parameters::from(&path(0x8001, 0, Mtu::new(code), Rate::GBPS_100, 14));
        assert_eq!([5, 6, 7, 8].map(|code| of(code).mtu_bytes()), [Some(4096), Some(8192), Some(10_240), None]);
        assert_eq!(of(7).to_string(), "P_Key 0x8001, SL 0, MTU 10240, 100 Gb/s");
    }

    #[test]
    fn different_pkeys_or_service_levels_are_an_error() {
        let one = path(0x8001, 3, Mtu::B4096, Rate::GBPS_100, 14);
        let pkey = path(0xffff, 3, Mtu::B4096, Rate::GBPS_100, 14);
        let sl = path(0x8001, 4, Mtu::B4096, Rate::GBPS_100, 14);
        let error = |paths: &[&PathRecord]| Parameters::common(paths.iter().copied()).unwrap_err().to_string();
        assert_eq!(error(&[]), "there is no path");
        assert_eq!(error(&[&one, &pkey]), "some paths are in partition 0x8001, others in 0xffff: choose one by --pkey");
        assert!(error(&[&one, &sl]).starts_with("some paths have service level 3, others 4: "));
    }
}
