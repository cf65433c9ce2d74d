//! Daemons and ib-mad with a real OpenSM, on ibsim.
mod groups;
mod mad_opensm;
mod notices;
mod opensm;
mod partitions;
mod prefetch;
mod recovery_opensm;
mod service_ids;
