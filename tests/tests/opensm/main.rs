//! Daemons and ib-mad with a real OpenSM, on ibsim.
mod mad_opensm;
mod notices;
mod opensm;
mod recovery_opensm;
