//! The crates that can be changed, and how each is tested.
use clap::ValueEnum;

/// A crate that can be changed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Package {
    AcmSansio,
    AcmWire,
    IbMad,
    AcmMio,
    IbDevice,
    IbSim,
}

/// How a crate is changed and tested.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The crates whose tests are its tests, its own first.
    pub(crate) packages: &'static [&'static str],
    /// Which of those crates' tests; none is all of them. They take seconds, acm-fuzz's half a minute. They serve
    /// simulated fabrics from threads and start no other program; ib-sim-preload's `device` and acm-mio's start
    /// themselves again, under the preload library, and those of acm-tests start daemons, as root.
    pub(crate) tests: &'static [&'static str],
    /// Files that are not changed.
    pub(crate) without: &'static [&'static str],
    /// How many of a hundred changes may pass the tests.
    pub(crate) target: u32,
}

impl Package {
    /// How it is changed and tested.
    pub(crate) const fn plan(self) -> Plan {
        match self {
            Self::AcmSansio => {
                Plan { packages: &["acm-sansio", "acm-sim", "acm-fuzz"], tests: &[], without: &[], target: 8 }
            }
            // Bodies of fuzz targets are tests.
            Self::AcmWire => Plan { packages: &["acm-wire"], tests: &["--lib"], without: &["fuzz.rs"], target: 8 },
            Self::IbMad => Plan {
                packages: &["ib-mad"],
                // What features add is changed, too.
                tests: &["--all-features", "--lib", "--test=formats", "--test=structures"],
                // Macros, and what their expansions call.
                without: &["crates/ib-mad/src/wire/*"],
                target: 8,
            },
            Self::AcmMio => Plan {
                packages: &["acm-mio", "acm-tests"],
                // It has no library, and cargo takes `--lib` amiss then. How it starts and ends, its options and its log
                // only a process shows.
                tests: &["--bins", "--test=daemon"],
                without: &[],
                target: 20,
            },
            Self::IbDevice => Plan {
                packages: &["ib-device", "ib-sim-preload"],
                tests: &["--lib", "--test=device"],
                without: &[],
                target: 20,
            },
            // Its test program ibsim starts OpenSM. Devices that go and come are in ib-sim-preload's.
            Self::IbSim => Plan {
                packages: &["ib-sim", "ib-sim-preload"],
                tests: &["--lib", "--bins", "--test=device"],
                without: &[],
                target: 20,
            },
        }
    }
}
