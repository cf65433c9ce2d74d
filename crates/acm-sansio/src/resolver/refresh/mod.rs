//! Changes: expiry, renewal and confirmation of paths, checks of claims, notices.
mod checks;
mod confirm;
mod expire;
mod negative;
mod notices;
mod queue;
mod refuted;
mod renew;
mod sweep;
