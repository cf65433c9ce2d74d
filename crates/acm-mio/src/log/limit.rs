//! Limits lines that other programs or hosts can cause, so that these lines neither fill the disk nor hide other lines.
//! Of each kind, a burst is written, and then a count each minute.
use crate::control::Filter;
use acm_sansio::{
    EndpointId, Event, Time,
    api::{Level, ResolverEvent},
    failure::FailureKind,
};
use acm_wire::Address;
use core::{
    cell::{Cell, RefCell},
    hash::{Hash, Hasher},
    mem::Discriminant,
    time::Duration,
};
use std::{collections::BTreeMap, hash::DefaultHasher, rc::Rc};

/// Interval between two counts.
const WINDOW: Duration = Duration::from_secs(60);
/// Lines of a kind that are written before the count begins.
const BURST: u32 = 20;
/// Lines of a kind that are written before the count begins, for events that each endpoint and each address has once at
/// the start.
const LARGE_BURST: u32 = 1000;
/// Number of kinds from which further subjects of a call site share one kind.
const KINDS: usize = 1024;

/// A kind of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An event of the core.
    Core(Discriminant<Event>, Option<Discriminant<ResolverEvent>>, Level),
    /// An event that each endpoint or each address has.
    Each(Discriminant<Event>, Option<Discriminant<ResolverEvent>>, Level),
    /// Failed requests, by the kind of failure.
    Failed(FailureKind),
    /// Accepting a client has failed.
    AcceptFailed,
    /// A client was closed because it read nothing.
    ClientStalled,
    /// A use of [`limited`]: file, line, level, and the hash of its subject; 0 without a subject.
    CallSite(&'static str, u32, Level, u64),
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
            Self::Core(.., level) | Self::Each(.., level) | Self::CallSite(_, _, level, _) => level,
            Self::Failed(_) => Level::Verbose,
            Self::AcceptFailed | Self::ClientStalled => Level::Always,
        }
    }
}

/// Counts the lines of one kind.
#[derive(Clone, Copy, Debug)]
struct Limiter {
    burst: u32,
    window: Option<Window>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    end: Time,
    written: u32,
    held_back: u64,
}

impl Limiter {
    const fn new(burst: u32) -> Self {
        Self { burst, window: None }
    }

    /// Counts a line. Returns `true` if the line may be written. Call [`Self::take_count`] first, which ends a window.
    fn admits(&mut self, now: Time) -> bool {
        let window = self.window.get_or_insert(Window { end: now + WINDOW, written: 0, held_back: 0 });
        if window.written < self.burst {
            window.written += 1;
            return true;
        }
        window.held_back += 1;
        false
    }

    /// Returns the time at which a count is to be written.
    fn due(&self) -> Option<Time> {
        self.window.filter(|window| window.held_back > 0).map(|window| window.end)
    }

    /// Ends the window if its time is over. If lines were held back in the window, returns their number, and the next
    /// window also gets only a count. After a window without held-back lines, lines are written again.
    fn take_count(&mut self, now: Time) -> Option<u64> {
        let Window { held_back, .. } = self.window.filter(|window| window.end <= now)?;
        self.window = (held_back > 0).then_some(Window { end: now + WINDOW, written: self.burst, held_back: 0 });
        Some(held_back).filter(|count| *count > 0)
    }
}

/// Names of endpoints by index, each with the id of the last endpoint at this index.
type EndpointNames = BTreeMap<u32, (EndpointId, String)>;

/// Writes or counts lines. Clones share the counts and are cheap.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    kinds: Rc<RefCell<Vec<Limited>>>,
    now: Rc<Cell<Time>>,
    endpoints: Rc<RefCell<EndpointNames>>,
    /// Events above this level are written only if their destination has this name.
    focus: Rc<RefCell<Option<(Level, Filter)>>>,
}

#[derive(Debug)]
struct Limited {
    kind: Kind,
    limiter: Limiter,
    /// Text of the last written line, which is repeated with the count.
    last: String,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            kinds: Rc::default(),
            now: Rc::new(Cell::new(Time::ZERO)),
            endpoints: Rc::default(),
            focus: Rc::default(),
        }
    }
}

impl Lines {
    /// Calls `write` if a line of this kind may be written at the time of the last [`Self::write_counts`]. `write` must
    /// store the text of the line in its argument: the text is repeated with the count of the following lines.
    pub(crate) fn limited(&self, kind: Kind, write: impl FnOnce(&mut String)) {
        let now = self.now.get();
        let mut kinds = self.kinds.borrow_mut();
        let index_of = |kinds: &[Limited], kind| kinds.iter().position(|limited| limited.kind == kind);
        let index = index_of(&kinds, kind).unwrap_or_else(|| {
            let kind = match kind {
                Kind::CallSite(file, line, level, _) if kinds.len() >= KINDS => Kind::CallSite(file, line, level, 0),
                kind => kind,
            };
            index_of(&kinds, kind).unwrap_or_else(|| {
                kinds.push(Limited { kind, limiter: Limiter::new(kind.burst()), last: String::new() });
                kinds.len() - 1
            })
        });
        if let Some(limited) = kinds.get_mut(index)
            && limited.limiter.admits(now)
        {
            write(&mut limited.last);
        }
    }

    /// Writes events above a level only if their destination meets a condition; `None` writes all events.
    pub(crate) fn set_focus(&self, focus: Option<(Level, Filter)>) {
        *self.focus.borrow_mut() = focus;
    }

    /// Reports whether an event of this level and destination may be written.
    pub(super) fn is_in_focus(&self, level: Level, dest: Option<Address>) -> bool {
        let focus = self.focus.borrow();
        let is_named = |filter: &Filter| dest.is_some_and(|dest| filter.is_named(&dest.to_string()));
        focus.as_ref().is_none_or(|(most, filter)| level <= *most || is_named(filter))
    }

    /// Sets the name of an endpoint.
    pub(crate) fn name_endpoint(&self, endpoint: EndpointId, name: String) {
        self.endpoints.borrow_mut().insert(endpoint.index(), (endpoint, name));
    }

    /// Returns the name of an endpoint: `mlx5_0/1 pkey 0xffff`.
    pub(crate) fn endpoint(&self, endpoint: EndpointId) -> String {
        match self.endpoints.borrow().get(&endpoint.index()) {
            Some((known, name)) if *known == endpoint => name.clone(),
            _ => endpoint.to_string(),
        }
    }

    /// Returns the time at which counts are to be written.
    pub(crate) fn due(&self) -> Option<Time> {
        self.kinds.borrow().iter().filter_map(|limited| limited.limiter.due()).min()
    }

    /// Sets the current time and writes the counts that are due. Call this function before writing lines of a later
    /// time.
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

/// Writes a line that a link, the kernel, a peer or a client can cause repeatedly: `limited!(lines, WARN, "target",
/// "text")`. All lines of one call site are one kind. With `of SUBJECT` before the text, each subject has a separate
/// kind, so that a device that fails permanently does not hide the failures of another device.
macro_rules! limited {
    ($lines:expr, $level:ident, $target:literal, of $subject:expr, $($text:tt)+) => {
        $crate::log::limited!(@ $lines, $level, $target, $crate::log::hash(&$subject), $($text)+)
    };
    ($lines:expr, $level:ident, $target:literal, $text:literal $($values:tt)*) => {
        $crate::log::limited!(@ $lines, $level, $target, 0, $text $($values)*)
    };
    (@ $lines:expr, $level:ident, $target:literal, $subject:expr, $($text:tt)+) => {
        // Lines of a disabled level are not counted, so that they cause no deadline.
        if tracing::enabled!(target: $target, tracing::Level::$level) {
            let level = $crate::log::level_of(tracing::Level::$level);
            let kind = $crate::log::Kind::CallSite(file!(), line!(), level, $subject);
            $lines.limited(kind, |line| {
                *line = format!($($text)+);
                tracing::event!(target: $target, tracing::Level::$level, "{line}");
            });
        }
    };
}
pub(crate) use limited;

/// Returns the hash of a line's subject.
pub(crate) fn hash(subject: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    subject.hash(&mut hasher);
    hasher.finish()
}

/// Returns the level of the log at which lines of this level are written.
pub(crate) fn level_of(level: tracing::Level) -> Level {
    match level {
        tracing::Level::TRACE => Level::Debug,
        tracing::Level::DEBUG => Level::Verbose,
        _ => Level::Always,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn burst_is_written_and_further_lines_are_counted() {
        let (mut limiter, start) = (Limiter::new(3), Time::ZERO + at(5));
        let written = (0..1000).filter(|_| limiter.admits(start)).count();
        assert_eq!(written, 3);
        assert_eq!(limiter.due(), Some(start + WINDOW));
        assert_eq!(limiter.take_count(start + at(59)), None, "the window is not over");
        assert_eq!(limiter.take_count(start + WINDOW), Some(997));
    }

    #[test]
    fn continuous_lines_are_one_count_a_minute() {
        let mut limiter = Limiter::new(2);
        let (mut written, mut counts) = (0, Vec::new());
        for second in 0..600 {
            let now = Time::ZERO + at(second);
            counts.extend(limiter.take_count(now));
            written += u32::from(limiter.admits(now));
        }
        assert_eq!((written, counts), (2, [vec![58], vec![60; 8]].concat()));
    }

    #[test]
    fn lines_are_written_again_after_a_minute_without_one() {
        let mut limiter = Limiter::new(1);
        assert!(limiter.admits(Time::ZERO));
        assert!(!limiter.admits(Time::ZERO));
        assert_eq!(limiter.take_count(Time::ZERO + at(60)), Some(1));
        assert!(!limiter.admits(Time::ZERO + at(61)));
        assert_eq!(limiter.take_count(Time::ZERO + at(120)), Some(1));
        assert_eq!(limiter.take_count(Time::ZERO + at(180)), None, "no line came");
        assert_eq!(limiter.due(), None, "no deadline without a count");
        assert!(limiter.admits(Time::ZERO + at(181)));
    }

    #[test]
    fn rare_lines_are_all_written() {
        let mut limiter = Limiter::new(20);
        for minute in 0..100 {
            let now = Time::ZERO + at(minute * 60);
            assert_eq!(limiter.take_count(now), None);
            assert!((0..20).all(|_| limiter.admits(now)), "minute {minute}");
        }
    }

    /// Returns the number of lines that are written, and whether a count is due then.
    fn written(lines: &Lines, kind: Kind, times: u32) -> (u32, bool) {
        let mut written = 0;
        (0..times).for_each(|_| lines.limited(kind, |_| written += 1));
        (written, lines.due().is_some())
    }

    #[test]
    fn each_call_site_has_its_burst_shared_by_clones() {
        let (lines, start) = (Lines::default(), Time::ZERO + at(1_000_000));
        let (here, there) = (Kind::CallSite("a", 1, Level::Always, 0), Kind::CallSite("a", 2, Level::Always, 0));
        lines.write_counts(start);
        assert_eq!(written(&lines, here, 20), (20, false));
        assert_eq!(written(&lines.clone(), here, 5), (0, true), "a clone shares the counts");
        assert_eq!(written(&lines, there, 5), (5, true));
        assert_eq!(lines.due(), Some(start + WINDOW));
        lines.write_counts(start + WINDOW);
        assert_eq!(lines.due(), None);
    }

    #[test]
    fn events_of_each_endpoint_have_a_large_burst() {
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
    fn each_subject_has_its_burst_up_to_a_number_of_kinds() {
        let lines = Lines::default();
        let of = |subject: &str| Kind::CallSite("devices.rs", 7, Level::Always, hash(&subject));
        assert_eq!(written(&lines, of("mlx5_0"), 21), (20, true));
        assert_eq!(written(&lines, of("mlx5_1"), 1), (1, true));
        // Subjects beyond the number of kinds share one kind.
        let subjects = (0..2 * 1024).map(|number| written(&lines, of(&number.to_string()), 1).0);
        assert_eq!(subjects.sum::<u32>() as usize, 1024 - 2 + 20);
        assert_eq!(lines.kinds.borrow().len(), 1024 + 1);
        assert_eq!(written(&lines, of("mlx5_1"), 20), (19, true), "the subject keeps its kind");
    }
}
