//! The thread that passes responses of the subnet administrator (SA) to a library's handlers.
#![expect(unsafe_code, reason = "it calls the library")]
use crate::{
    convert, registry,
    slots::{Running, SlotId},
};
use acm_provider::abi::UserMad;
use acm_sansio::api::{ExternalSaId, SaError};
use ib_mad::sa::SaMad;
use std::sync::mpsc::Receiver;
use zerocopy::IntoBytes;

/// The result of a request: the response, or the reason why there is none.
pub(crate) type SaResult = (ExternalSaId, Result<Box<SaMad>, SaError>);

/// Offsets of the method and the status in a MAD.
const METHOD: usize = 3;
const STATUS: core::ops::Range<usize> = 4..6;
/// The bit of a method that marks a response.
const RESPONSE: u8 = 0x80;

/// Calls handlers until the channel is closed.
pub(crate) fn run(results: &Receiver<SaResult>, slot: SlotId) {
    for (id, result) in results {
        let Some(completed) = registry::complete(id, |umad, mad| write(umad, mad, &result)) else { continue };
        if let Some(handler) = completed.handler {
            let _running = Running::new(slot, "an answer's handler");
            // SAFETY: the datagram is valid until the handler returns, even if the library frees it meanwhile.
            unsafe { handler(completed.mad) };
        }
        registry::end_handler(completed.mad);
    }
}

/// Writes a result over the request, as the kernel does for ibacm.
fn write(umad: &mut UserMad, mad: &mut [u8; 256], result: &Result<Box<SaMad>, SaError>) {
    umad.length = 256;
    match result {
        Ok(response) => {
            umad.status = 0;
            for (to, from) in mad.iter_mut().zip(response.as_bytes()) {
                *to = *from;
            }
        }
        Err(error) => {
            umad.status = convert::errno(*error);
            if let SaError::Status(status) = error {
                if let Some(method) = mad.get_mut(METHOD) {
                    *method |= RESPONSE;
                }
                if let Some(field) = mad.get_mut(STATUS) {
                    field.copy_from_slice(&status.get().to_be_bytes());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Status, Wire};
    use nix::libc;

    #[test]
    fn result_is_written_over_the_request() {
        let (mut umad, mut mad) = (UserMad { status: 9, ..UserMad::default() }, [1; 256]);
        let response = *<SaMad as Wire>::parse(&[7; 256]).unwrap();
        write(&mut umad, &mut mad, &Ok(Box::new(response)));
        assert_eq!((umad.status, mad), (0, [7; 256]));
        write(&mut umad, &mut mad, &Err(SaError::TimedOut));
        assert_eq!((umad.status, mad), (libc::ETIMEDOUT.unsigned_abs(), [7; 256]));
        mad[3] = 1;
        write(&mut umad, &mut mad, &Err(SaError::Status(Status::new(0x0300))));
        assert_eq!((umad.status, mad[3], &mad[4..6], mad[6]), (0, 0x81, [3, 0].as_slice(), 7));
    }
}
