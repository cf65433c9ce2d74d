//! The thread in which a library hears answers of subnet administration.
#![expect(unsafe_code, reason = "it calls the library")]
use crate::{convert, registry, running::Running, slots::SlotId};
use acm_provider::abi::UserMad;
use acm_sansio::{api::ExternalSaId, sa::SaError};
use ib_mad::sa::SaMad;
use std::sync::mpsc::Receiver;
use zerocopy::IntoBytes;

/// What became of a request.
pub(crate) type Answer = (ExternalSaId, Result<Box<SaMad>, SaError>);

/// Where a datagram has its method and its status.
const METHOD: usize = 3;
const STATUS: core::ops::Range<usize> = 4..6;
/// What an answer's method has beside that of its request.
const RESPONSE: u8 = 0x80;

/// Calls handlers until there is nothing to answer any more.
pub(crate) fn run(answers: &Receiver<Answer>, slot: SlotId) {
    for (id, answer) in answers {
        let Some(answered) = registry::answer(id, |umad, mad| write(umad, mad, &answer)) else { continue };
        if let Some(handler) = answered.handler {
            let _running = Running::new(slot, "an answer's handler");
            // SAFETY: the datagram is there until the library frees it, which it does then or later.
            unsafe { handler(answered.mad) };
        }
    }
}

/// Writes an answer over the request, as ibacm's kernel does.
fn write(umad: &mut UserMad, mad: &mut [u8; 256], answer: &Result<Box<SaMad>, SaError>) {
    umad.length = 256;
    match answer {
        Ok(answer) => {
            umad.status = 0;
            for (to, from) in mad.iter_mut().zip(answer.as_bytes()) {
                *to = *from;
            }
        }
        Err(error) => {
            umad.status = convert::errno(*error);
            if let SaError::Status(status) = error {
                if let Some(method) = mad.get_mut(METHOD) {
                    *method |= RESPONSE;
                }
                if let Some(place) = mad.get_mut(STATUS) {
                    place.copy_from_slice(&status.get().to_be_bytes());
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
    fn an_answer_is_written_over_the_request() {
        let (mut umad, mut mad) = (UserMad { status: 9, ..UserMad::default() }, [1; 256]);
        let answer = *SaMad::parse(&[7; 256]).unwrap();
        write(&mut umad, &mut mad, &Ok(Box::new(answer)));
        assert_eq!((umad.status, mad), (0, [7; 256]));
        write(&mut umad, &mut mad, &Err(SaError::TimedOut));
        assert_eq!((umad.status, mad), (libc::ETIMEDOUT.unsigned_abs(), [7; 256]));
        mad[3] = 1;
        write(&mut umad, &mut mad, &Err(SaError::Status(Status::new(0x0300))));
        assert_eq!((umad.status, mad[3], &mad[4..6], mad[6]), (0, 0x81, [3, 0].as_slice(), 7));
    }
}
