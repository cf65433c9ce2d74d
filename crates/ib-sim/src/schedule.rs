//! What is to happen when.
use alloc::collections::BTreeMap;
use core::time::Duration;

/// What one thing in a schedule is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Appointment {
    at: Duration,
    order: u64,
}

/// Things by the time at which they are due; things of one time in the order in which they were added.
#[derive(Clone, Debug)]
pub(crate) struct Schedule<T> {
    due: BTreeMap<Appointment, T>,
    added: u64,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self { due: BTreeMap::new(), added: 0 }
    }
}

impl<T> Schedule<T> {
    pub(crate) fn add(&mut self, at: Duration, what: T) -> Appointment {
        let appointment = Appointment { at, order: self.added };
        self.added += 1;
        self.due.insert(appointment, what);
        appointment
    }

    pub(crate) fn cancel(&mut self, appointment: Appointment) {
        self.due.remove(&appointment);
    }

    pub(crate) fn next(&self) -> Option<Duration> {
        self.due.first_key_value().map(|(appointment, _)| appointment.at)
    }

    /// Takes the first thing that is due at `now` with its time.
    pub(crate) fn take(&mut self, now: Duration) -> Option<(Duration, T)> {
        let first = self.due.first_entry()?;
        (first.key().at <= now).then(|| first.remove_entry()).map(|(appointment, what)| (appointment.at, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_time_then_by_order() {
        let mut schedule = Schedule::default();
        let ms = Duration::from_millis;
        let added = [(2, "c"), (1, "a"), (2, "x"), (2, "d"), (1, "b"), (3, "e")];
        let added = added.map(|(at, what)| schedule.add(ms(at), what));
        schedule.cancel(added[2]);
        assert_eq!(schedule.next(), Some(ms(1)));
        let taken: alloc::vec::Vec<_> = core::iter::from_fn(|| schedule.take(ms(2))).collect();
        assert_eq!(taken, [(ms(1), "a"), (ms(1), "b"), (ms(2), "c"), (ms(2), "d")]);
        assert_eq!(schedule.next(), Some(ms(3)));
    }
}
