//! Changes: expiry, renewal and confirmation of paths, verification of claims and silent hosts, notices.
mod confirm;
mod expire;
mod negative;
mod notices;
mod queue;
mod recheck;
mod refuted;
mod renew;
mod silent;
mod sweep;
