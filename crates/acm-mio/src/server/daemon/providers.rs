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
            match heard.into_input() {
                Ok(input) => self.input(now, input),
                Err(heard) => self.host.providers.say(&heard),
            }
        }
    }
}
