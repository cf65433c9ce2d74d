//! The picture in ARCHITECTURE.md as a table, and the check against it.
use super::{
    defect::Defect,
    graph::{Crate, Dependency},
};

/// What a crate may be built with.
struct Rule {
    name: &'static str,
    /// Crates of ours.
    arrows: Arrows,
    /// Given for the crates below the line.
    libraries: Option<Libraries>,
}

enum Arrows {
    To(&'static [&'static str]),
    /// A crate at the end of all arrows: nothing is built with it.
    Any,
}

/// Libraries that a crate below the line may take.
struct Libraries {
    /// Without std, clock and I/O.
    pure: &'static [&'static str],
    /// Only behind features of the parts above the line.
    optional: &'static [&'static str],
}

const fn above(name: &'static str, arrows: &'static [&'static str]) -> Rule {
    Rule { name, arrows: Arrows::To(arrows), libraries: None }
}
const fn below(
    name: &'static str,
    arrows: &'static [&'static str],
    pure: &'static [&'static str],
    optional: &'static [&'static str],
) -> Rule {
    Rule { name, arrows: Arrows::To(arrows), libraries: Some(Libraries { pure, optional }) }
}
const fn end(name: &'static str) -> Rule {
    Rule { name, arrows: Arrows::Any, libraries: None }
}

const RULES: &[Rule] = &[
    below("ib-mad", &[], &["bitflags", "thiserror", "zerocopy"], &["arbitrary", "serde"]),
    below(
        "acm-wire",
        &["ib-mad"],
        &["bitflags", "byteorder", "memchr", "nom", "thiserror", "zerocopy"],
        &["arbitrary", "serde"],
    ),
    below(
        "acm-sansio",
        &["acm-wire", "ib-mad"],
        &["bitflags", "foldhash", "hashbrown", "siphasher", "slab", "thiserror", "zerocopy"],
        &["arbitrary", "serde"],
    ),
    // The core is pure; the server, the client, the uplink to ibsim and the program, which writes traces, are features.
    below(
        "ib-sim",
        &["ib-mad"],
        &["bitflags", "thiserror", "zerocopy"],
        &["acm-trace", "arbitrary", "clap", "mio", "nix", "signal-hook", "socket2", "tracing", "tracing-subscriber"],
    ),
    above("acm-client", &["acm-wire", "ib-mad", "ib-device"]),
    above("acm-capi", &["acm-client", "acm-wire", "ib-mad"]),
    above("acm-trace", &["acm-sansio", "acm-wire", "ib-mad"]),
    above("acm-sim", &["ib-sim", "acm-trace", "acm-sansio", "acm-wire", "ib-mad"]),
    above("ib-device", &["ib-mad"]),
    above("acm-mio", &["acm-sansio", "acm-wire", "ib-mad", "ib-sim", "ib-device", "acm-plugin", "acm-trace"]),
    above("ib-sim-preload", &["ib-sim", "ib-mad"]),
    above("acm-provider", &["acm-wire", "ib-mad"]),
    above("acm-plugin", &["acm-provider", "acm-sansio", "acm-wire", "ib-mad", "ib-device"]),
    above("acmrs", &["acm-provider", "acm-sansio", "acm-wire", "ib-device", "ib-mad"]),
    end("acm-tests"),
    end("acm-fuzz"),
    end("xtask"),
];

fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

/// Whether the crate has no clock, no I/O and no unsafe code.
pub(super) fn is_below_the_line(name: &str) -> bool {
    rule(name).is_some_and(|rule| rule.libraries.is_some())
}

/// Whether the crate is for tests alone: it may panic.
pub(super) fn is_for_tests(name: &str) -> bool {
    ["acm-sim", "acm-fuzz", "acm-tests"].contains(&name)
}

/// Every dependency that the table does not allow.
pub(super) fn check(crates: &[Crate]) -> Vec<Defect> {
    let mut defects = Vec::new();
    for member in crates {
        match rule(&member.name) {
            Some(rule) => defects.extend(member.depends.iter().filter_map(|to| rule.defect(to))),
            None => defects.push(Defect::UnknownCrate(member.name.clone())),
        }
    }
    defects
}

impl Rule {
    fn defect(&self, to: &Dependency) -> Option<Defect> {
        let (from, name) = (self.name.to_owned(), to.name.clone());
        if to.internal {
            let behind_a_feature = |own: &Libraries| to.optional && own.optional.contains(&to.name.as_str());
            let allowed = match self.arrows {
                Arrows::To(arrows) => {
                    arrows.contains(&to.name.as_str()) || self.libraries.as_ref().is_some_and(behind_a_feature)
                }
                Arrows::Any => true,
            };
            return (!allowed).then_some(Defect::Arrow { from, to: name });
        }
        let libraries = self.libraries.as_ref()?;
        if libraries.pure.contains(&to.name.as_str()) {
            return None;
        }
        if !libraries.optional.contains(&to.name.as_str()) {
            return Some(Defect::External { from, to: name });
        }
        (!to.optional).then_some(Defect::NotOptional { from, to: name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, ours: &[&str], libraries: &[&str]) -> Crate {
        let to = |internal| move |name: &&str| Dependency { name: (*name).into(), internal, optional: false };
        let depends = ours.iter().map(to(true)).chain(libraries.iter().map(to(false))).collect();
        Crate { name: name.into(), depends, ..Crate::default() }
    }

    fn arrow(from: &str, to: &str) -> Defect {
        Defect::Arrow { from: from.into(), to: to.into() }
    }

    #[test]
    fn the_architecture_passes() {
        let crates = [
            member("ib-mad", &[], &["zerocopy", "bitflags"]),
            member("acm-wire", &["ib-mad"], &["nom"]),
            member("acm-sansio", &["acm-wire", "ib-mad"], &["hashbrown"]),
            member("acm-mio", &["acm-sansio", "ib-sim", "ib-device"], &["mio", "anything"]),
            member("xtask", &["acm-mio", "acm-sim"], &["clap"]),
        ];
        assert_eq!(check(&crates), []);
    }

    #[test]
    fn arrows_against_the_picture() {
        let crates = [
            member("ib-mad", &["acm-wire"], &[]),
            member("acm-wire", &["ib-mad", "acm-sansio"], &[]),
            member("ib-sim-preload", &["acm-sansio"], &[]),
            member("ib-device", &["ib-mad", "acm-mio"], &[]),
            member("acm-sansio", &["xtask"], &[]),
        ];
        assert_eq!(
            check(&crates),
            [
                arrow("ib-mad", "acm-wire"),
                arrow("acm-wire", "acm-sansio"),
                arrow("ib-sim-preload", "acm-sansio"),
                arrow("ib-device", "acm-mio"),
                arrow("acm-sansio", "xtask"),
            ]
        );
    }

    #[test]
    fn a_crate_that_nobody_placed() {
        assert_eq!(check(&[member("acm-new", &[], &[])]), [Defect::UnknownCrate("acm-new".into())]);
    }

    #[test]
    fn libraries_below_the_line() {
        let (from, to) = ("acm-sansio".to_owned(), "mio".to_owned());
        assert_eq!(check(&[member("acm-sansio", &[], &["mio"])]), [Defect::External { from, to }]);
        let (from, to) = ("ib-sim".to_owned(), "mio".to_owned());
        let mut sim = member("ib-sim", &["ib-mad"], &["mio"]);
        assert_eq!(check(core::slice::from_ref(&sim)), [Defect::NotOptional { from, to }]);
        sim.depends.iter_mut().for_each(|to| to.optional = true);
        assert_eq!(check(&[sim]), []);
        // A crate of ours that its program alone is built with.
        let mut sim = member("ib-sim", &["ib-mad", "acm-trace"], &[]);
        assert_eq!(check(core::slice::from_ref(&sim)), [arrow("ib-sim", "acm-trace")]);
        sim.depends.iter_mut().for_each(|to| to.optional = true);
        assert_eq!(check(&[sim]), []);
    }

    #[test]
    fn the_table_is_a_picture_without_circles() {
        // An arrow from below leads only to what stands before it in the table or in the list of its own arrows.
        fn reaches(from: &str, to: &str, depth: usize) -> bool {
            let Some(Rule { arrows: Arrows::To(arrows), .. }) = rule(from) else { return false };
            depth > 0 && arrows.iter().any(|next| *next == to || reaches(next, to, depth - 1))
        }
        for Rule { name, arrows, libraries } in RULES {
            assert!(!reaches(name, name, RULES.len()), "{name} depends on itself");
            if let Arrows::To(arrows) = arrows {
                assert!(arrows.iter().all(|to| rule(to).is_some()), "{name}");
                assert!(libraries.is_none() || arrows.iter().all(|to| is_below_the_line(to)), "{name} reaches up");
            }
        }
    }
}
