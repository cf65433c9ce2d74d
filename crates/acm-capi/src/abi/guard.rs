//! Nothing but numbers leaves.
use crate::errno::Result;
use core::panic::AssertUnwindSafe;
use nix::errno::Errno;
use std::panic::catch_unwind;

/// What `work` gives, or `failed` and `errno`. A panic is a defect of ours and ENOTRECOVERABLE: it does not unwind
/// through C.
pub(super) fn guard<T>(failed: T, work: impl FnOnce() -> Result<T>) -> T {
    // What the panic left behind is behind locks, which say so to whoever comes next.
    let errno = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => return value,
        Ok(Err(errno)) => errno,
        Err(panic) => {
            // It may panic again when it goes.
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
    fn a_panic_is_a_number() {
        assert_eq!((guard(-1, || panic!("meant by this test")), Errno::last()), (-1, Errno::ENOTRECOVERABLE));
        assert_eq!((guard(-1, || Err(Errno::EBADF)), Errno::last()), (-1, Errno::EBADF));
        assert_eq!(guard(-1, || Ok(7)), 7);
    }
}
