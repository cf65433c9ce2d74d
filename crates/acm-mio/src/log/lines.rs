//! What others can make the daemon say: a burst of each kind is written, and the rest is counted.
use super::limit::Limiter;
use acm_sansio::{EndpointId, Event, Time, api::Level, failure::FailureKind, ibacmp};
use core::{
    cell::{Cell, RefCell},
    hash::{Hash, Hasher},
    mem::Discriminant,
};
use std::{collections::BTreeMap, hash::DefaultHasher, rc::Rc};

/// Lines of a kind before the counting begins.
const BURST: u32 = 20;
/// The same of what each endpoint and each address of a large machine says once when it starts.
const LARGE_BURST: u32 = 1000;
/// Kinds that are told apart by what they are about; further things share one.
const KINDS: usize = 1024;

/// A kind of line that others can cause again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An event of the core.
    Core(Discriminant<Event>, Option<Discriminant<ibacmp::Event>>, Level),
    /// One of those that each endpoint and each address has.
    Each(Discriminant<Event>, Option<Discriminant<ibacmp::Event>>, Level),
    /// Requests that failed, by the kind of failure.
    Failed(FailureKind),
    /// Nobody can be accepted.
    AcceptFailed,
    /// A client was closed because it took nothing.
    ClientStalled,
    /// What a place of the source says, by [`limited`], of the thing with this [`subject`]; 0 for all that have none.
    Place(&'static str, u32, Level, u64),
}

impl Kind {
    const fn burst(self) -> u32 {
        match self {
            Self::AcceptFailed => 1,
            Self::Each(..) => LARGE_BURST,
            _ => BURST,
        }
    }

    const fn level(self) -> Level {
        match self {
            Self::Core(.., level) | Self::Each(.., level) | Self::Place(_, _, level, _) => level,
            Self::Failed(_) => Level::Verbose,
            Self::AcceptFailed | Self::ClientStalled => Level::Always,
        }
    }
}

/// Endpoints by their place, each with the name of the one that had the place last.
type EndpointNames = BTreeMap<u32, (EndpointId, String)>;

/// What is written, and what is only counted. A clone is the same: whoever has something to say has one.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    kinds: Rc<RefCell<Vec<Limited>>>,
    now: Rc<Cell<Time>>,
    endpoints: Rc<RefCell<EndpointNames>>,
}

#[derive(Debug)]
struct Limited {
    kind: Kind,
    limiter: Limiter,
    /// What the last line said, for the count.
    last: String,
}

impl Default for Lines {
    fn default() -> Self {
        Self { kinds: Rc::default(), now: Rc::new(Cell::new(Time::ZERO)), endpoints: Rc::default() }
    }
}

impl Lines {
    /// Writes a line, if there were not too many of its kind since [`Self::write_counts`] said what time it is. `write`
    /// gets the place for its text, which goes with the count of those that follow.
    pub(crate) fn limited(&self, kind: Kind, write: impl FnOnce(&mut String)) {
        let now = self.now.get();
        let mut kinds = self.kinds.borrow_mut();
        let place_of = |kinds: &[Limited], kind| kinds.iter().position(|limited| limited.kind == kind);
        let place = place_of(&kinds, kind).unwrap_or_else(|| {
            let kind = match kind {
                Kind::Place(file, line, level, _) if kinds.len() >= KINDS => Kind::Place(file, line, level, 0),
                kind => kind,
            };
            place_of(&kinds, kind).unwrap_or_else(|| {
                kinds.push(Limited { kind, limiter: Limiter::new(kind.burst()), last: String::new() });
                kinds.len() - 1
            })
        });
        if let Some(limited) = kinds.get_mut(place)
            && limited.limiter.admits(now)
        {
            write(&mut limited.last);
        }
    }

    /// From now on this endpoint is called so.
    pub(crate) fn name_endpoint(&self, endpoint: EndpointId, name: String) {
        self.endpoints.borrow_mut().insert(endpoint.index(), (endpoint, name));
    }

    /// What an endpoint is called: `mlx5_0/1 pkey 0xffff`.
    pub(crate) fn endpoint(&self, endpoint: EndpointId) -> String {
        match self.endpoints.borrow().get(&endpoint.index()) {
            Some((known, name)) if *known == endpoint => name.clone(),
            _ => endpoint.to_string(),
        }
    }

    /// When counts are to be written.
    pub(crate) fn due(&self) -> Option<Time> {
        self.kinds.borrow().iter().filter_map(|limited| limited.limiter.due()).min()
    }

    /// Writes the counts that are due. To be called before anything is said at another time.
    pub(crate) fn write_counts(&self, now: Time) {
        self.now.set(now);
        for Limited { kind, limiter, last } in self.kinds.borrow_mut().iter_mut() {
            let Some(count) = limiter.take_count(now) else { continue };
            match kind.level() {
                Level::Always => {
                    tracing::info!(target: "log", "... and {count} more like this in the last minute: {last}");
                }
                _ => tracing::debug!(target: "log", "... and {count} more like this in the last minute: {last}"),
            }
        }
    }
}

/// Writes a line that a link, the kernel, a peer or a client can cause again and again: `limited!(lines, WARN, "place",
/// "text")`. All that one place of the source says is one kind; with `of THING` before the text, what it says of each
/// thing is, so that one device that fails for ever does not hide why another one does.
macro_rules! limited {
    ($lines:expr, $level:ident, $target:literal, of $thing:expr, $($text:tt)+) => {
        $crate::log::limited!(@ $lines, $level, $target, $crate::log::subject(&$thing), $($text)+)
    };
    ($lines:expr, $level:ident, $target:literal, $text:literal $($values:tt)*) => {
        $crate::log::limited!(@ $lines, $level, $target, 0, $text $($values)*)
    };
    (@ $lines:expr, $level:ident, $target:literal, $subject:expr, $($text:tt)+) => {
        // What is not written is not counted, and wakes nobody up.
        if tracing::enabled!(target: $target, tracing::Level::$level) {
            let kind = $crate::log::Kind::Place(file!(), line!(), $crate::log::level_of(tracing::Level::$level), $subject);
            $lines.limited(kind, |said| {
                *said = format!($($text)+);
                tracing::event!(target: $target, tracing::Level::$level, "{said}");
            });
        }
    };
}
pub(crate) use limited;

/// Tells things apart that lines are about.
pub(crate) fn subject(thing: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

/// The level of the log at which such lines are written.
pub(crate) fn level_of(level: tracing::Level) -> Level {
    match level {
        tracing::Level::TRACE => Level::Debug,
        tracing::Level::DEBUG => Level::Verbose,
        _ => Level::Always,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::limit::WINDOW, *};
    use core::time::Duration;

    /// How many lines of a kind are written, and whether a count is due then.
    fn written(lines: &Lines, kind: Kind, times: u32) -> (u32, bool) {
        let mut written = 0;
        (0..times).for_each(|_| lines.limited(kind, |_| written += 1));
        (written, lines.due().is_some())
    }

    #[test]
    fn each_place_has_its_burst_whoever_says_it() {
        let (lines, start) = (Lines::default(), Time::ZERO + Duration::from_secs(1_000_000));
        let (here, there) = (Kind::Place("a", 1, Level::Always, 0), Kind::Place("a", 2, Level::Always, 0));
        lines.write_counts(start);
        assert_eq!(written(&lines, here, 20), (20, false));
        assert_eq!(written(&lines.clone(), here, 5), (0, true), "another one's lines are the same");
        assert_eq!(written(&lines, there, 5), (5, true));
        assert_eq!(lines.due(), Some(start + WINDOW));
        lines.write_counts(start + WINDOW);
        assert_eq!(lines.due(), None);
    }

    #[test]
    fn what_each_endpoint_says_has_room_and_an_end() {
        let event = core::mem::discriminant(&Event::EndpointLost(EndpointId::new(0, 0)));
        let kind = Kind::Each(event, None, Level::Always);
        assert_eq!(written(&Lines::default(), kind, 5000), (1000, true));
    }

    #[test]
    fn lines_and_events_have_the_same_levels() {
        use tracing::Level as Line;
        let levels = [Line::ERROR, Line::WARN, Line::INFO, Line::DEBUG, Line::TRACE].map(level_of);
        assert_eq!(levels, [Level::Always, Level::Always, Level::Always, Level::Verbose, Level::Debug]);
    }

    #[test]
    fn what_fails_for_ever_does_not_hide_why_another_fails() {
        let lines = Lines::default();
        let of = |thing: &str| Kind::Place("devices.rs", 7, Level::Always, subject(&thing));
        assert_eq!(written(&lines, of("mlx5_0"), 21), (20, true));
        assert_eq!(written(&lines, of("mlx5_1"), 1), (1, true));
        // Whatever there are of them: the last ones share a kind.
        let things = (0..2 * 1024).map(|number| written(&lines, of(&number.to_string()), 1).0);
        assert_eq!(things.sum::<u32>() as usize, 1024 - 2 + 20);
        assert_eq!(lines.kinds.borrow().len(), 1024 + 1);
        assert_eq!(written(&lines, of("mlx5_1"), 20), (19, true), "it has its own still");
    }
}
