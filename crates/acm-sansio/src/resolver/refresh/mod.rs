//! Changes: expiry, renewal and confirmation of paths, verification of claims, announcements, notices.
mod announce;
mod confirm;
mod expire;
mod negative;
mod notices;
mod queue;
mod recheck;
mod refuted;
mod renew;
mod sweep;
mod witnesses;
