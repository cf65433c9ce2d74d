//! Environment variables of libraries that send no path queries.
use super::format::quoted;
use acm_client::fabric::Parameters;

/// A library, or a family of libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Library {
    /// UCX.
    Ucx,
    /// Open MPI: with UCX, and its component openib up to version 4.
    Openmpi,
    /// MVAPICH: version 2, and later versions with UCX.
    Mvapich,
    /// NCCL.
    Nccl,
    /// The provider opx of libfabric. The provider verbs connects by rdma_cm, and needs no variable.
    Libfabric,
}

impl Library {
    /// Returns the variables for these parameters and the device, port and P_Key index of the local port.
    pub(super) fn variables(
        self,
        common: &Parameters,
        local: Option<&(String, u8, Option<u16>)>,
    ) -> Vec<(&'static str, String)> {
        let (sl, pkey) = (common.sl.get().to_string(), common.pkey.to_string());
        let partition = format!("{:#06x}", common.pkey.partition());
        let device = local.map(|(device, ..)| quoted(device));
        let port = local.map(|(_, port, _)| port.to_string());
        let device_port = local.map(|(device, port, _)| quoted(&format!("{device}:{port}")));
        let ucx = || {
            let always = [("UCX_IB_SL", sl.clone()), ("UCX_IB_PKEY", partition.clone())];
            always.into_iter().chain(device_port.clone().map(|device| ("UCX_NET_DEVICES", device)))
        };
        match self {
            Self::Ucx => ucx().collect(),
            Self::Openmpi => {
                let mut all: Vec<_> = ucx().collect();
                all.push(("OMPI_MCA_btl_openib_ib_service_level", sl.clone()));
                all.push(("OMPI_MCA_btl_openib_pkey", partition.clone()));
                all.extend(device_port.clone().map(|device| ("OMPI_MCA_btl_openib_if_include", device)));
                all
            }
            Self::Mvapich => {
                let mut all: Vec<_> = ucx().collect();
                all.extend([("MV2_DEFAULT_SERVICE_LEVEL", sl.clone()), ("MV2_DEFAULT_PKEY", pkey)]);
                all.extend(device.map(|device| ("MV2_IBA_HCA", device)));
                all.extend(port.map(|port| ("MV2_DEFAULT_PORT", port)));
                all
            }
            Self::Nccl => {
                // NCCL takes the index of the P_Key, and `=` for the exact name of the device.
                let index = local.and_then(|(.., index)| *index).map(|index| ("NCCL_IB_PKEY", index.to_string()));
                let device = local.map(|(device, port, _)| ("NCCL_IB_HCA", quoted(&format!("={device}:{port}"))));
                [("NCCL_IB_SL", sl)].into_iter().chain(index).chain(device).collect()
            }
            Self::Libfabric => vec![("FI_OPX_SL", sl), ("FI_OPX_PKEY", pkey)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_client::ib_mad::{Mtu, PacketLifeTime, Pkey, Rate, ServiceLevel};
    use clap::ValueEnum;

    fn text(library: Library, local: Option<&(String, u8, Option<u16>)>) -> String {
        let (mtu, rate) = (Mtu::B4096, Rate::GBPS_100);
        let (sl, pkey, packet_life_time) = (ServiceLevel::of::<3>(), Pkey::new(0x8001), PacketLifeTime::ZERO);
        let variables = library.variables(&Parameters { pkey, sl, mtu, rate, packet_life_time }, local);
        variables.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_library_gets_its_variables() {
        let local = ("mlx5_0".to_owned(), 2, Some(7));
        let ucx = "UCX_IB_SL=3 UCX_IB_PKEY=0x0001 UCX_NET_DEVICES='mlx5_0:2'";
        let openib = "OMPI_MCA_btl_openib_ib_service_level=3 OMPI_MCA_btl_openib_pkey=0x0001 \
            OMPI_MCA_btl_openib_if_include='mlx5_0:2'";
        let mv2 = "MV2_DEFAULT_SERVICE_LEVEL=3 MV2_DEFAULT_PKEY=0x8001 MV2_IBA_HCA='mlx5_0' MV2_DEFAULT_PORT=2";
        let expected = [
            ucx.to_owned(),
            format!("{ucx} {openib}"),
            format!("{ucx} {mv2}"),
            "NCCL_IB_SL=3 NCCL_IB_PKEY=7 NCCL_IB_HCA='=mlx5_0:2'".to_owned(),
            "FI_OPX_SL=3 FI_OPX_PKEY=0x8001".to_owned(),
        ];
        let found: Vec<String> = Library::value_variants().iter().map(|library| text(*library, Some(&local))).collect();
        assert_eq!(found, expected);
        assert_eq!(text(Library::Ucx, None), "UCX_IB_SL=3 UCX_IB_PKEY=0x0001");
        assert_eq!(text(Library::Nccl, Some(&("x".to_owned(), 1, None))), "NCCL_IB_SL=3 NCCL_IB_HCA='=x:1'");
    }
}
