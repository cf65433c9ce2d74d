//! Changes: renewal of paths, verification of claims, announcements, notices.
pub(crate) mod announce;
pub(crate) mod announced;
pub(crate) mod claim;
pub(crate) mod notices;
pub(crate) mod renew;
pub(crate) mod verify;
