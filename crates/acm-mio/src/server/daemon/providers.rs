//! What providers that are not built in have to say.
use super::turn::{Daemon, OTHERS_TURN};
use acm_sansio::Time;

impl Daemon {
    /// Hands it to the core or to the log, a turn's worth of it.
    pub(super) fn hear_providers(&mut self, now: Time) {
        for _ in 0..OTHERS_TURN {
            let Some(heard) = self.host.providers.hear() else {
                self.ready.providers = false;
                return;
            };
            match heard.to_core() {
                Some(input) => self.input(now, input),
                None => self.host.providers.say(&heard),
            }
        }
    }
}
