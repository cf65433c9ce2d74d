//! Changes: expiry and renewal of paths, verification of claims, announcements, notices.
mod announce;
mod expire;
mod negative;
mod notices;
mod renew;
mod verify;
