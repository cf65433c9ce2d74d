//! Changes: expiry, renewal and confirmation of paths, verification of claims, announcements, notices.
mod announce;
mod confirm;
mod expire;
mod negative;
mod notices;
mod recheck;
mod refuted;
mod renew;
