//! Converts errors and panics to `errno`.
use crate::errno::Result;
use core::panic::AssertUnwindSafe;
use nix::errno::Errno;
use std::panic::catch_unwind;

/// Calls `work` and returns its value. If it fails, sets `errno` and returns `failed`. A panic is a defect of the
/// library and sets ENOTRECOVERABLE. It does not unwind through C.
pub(super) fn guard<T>(failed: T, work: impl FnOnce() -> Result<T>) -> T {
    // A panic poisons the locks of state that it may leave inconsistent, so later calls fail.
    let errno = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => return value,
        Ok(Err(errno)) => errno,
        Err(panic) => {
            // Dropping the payload may panic again.
            core::mem::forget(panic);
            Errno::ENOTRECOVERABLE
        }
    };
    errno.set();
    failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_and_errors_set_errno() {
        assert_eq!((guard(-1, || panic!("expected by this test")), Errno::last()), (-1, Errno::ENOTRECOVERABLE));
        assert_eq!((guard(-1, || Err(Errno::EBADF)), Errno::last()), (-1, Errno::EBADF));
        assert_eq!(guard(-1, || Ok(7)), 7);
    }
}
