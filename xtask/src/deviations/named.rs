//! The name of a test: the package, the target, and as much of the end of the function's path as makes it the only one.
use super::tests_of::{Known, UNIT};
use crate::error::TaskError;
use cargo_metadata::{Target, TargetKind};
use core::fmt;

/// Why a name is not that of a test.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error("`{0}` is not `package target::function`; the target `unit` has the tests beside the code")]
    Form(String),
    #[error("`{0}`: no such package or target")]
    NoTarget(String),
    #[error("`{0}`: that target runs by name only; name a test that every run has")]
    NotAmongAll(String),
    #[error("`{0}`: no such test function")]
    NoFunction(String),
    #[error("`{0}` may be {1}: say more of the path")]
    Several(String, String),
}

/// A program with tests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    package: String,
    kind: Kind,
    target: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Library,
    Program,
    Tests,
}

impl Place {
    fn new(package: &str, target: &Target) -> Self {
        let kind = if target.is_kind(TargetKind::Test) {
            Kind::Tests
        } else if target.is_kind(TargetKind::Lib) || target.is_kind(TargetKind::RLib) {
            Kind::Library
        } else {
            Kind::Program
        };
        Self { package: package.to_owned(), kind, target: target.name.clone() }
    }

    /// What cargo must be told to build it and nothing else.
    pub(super) fn args(&self) -> Vec<&str> {
        let package = ["--package", &self.package];
        let target: &[&str] = match self.kind {
            Kind::Library => &["--lib"],
            Kind::Program => &["--bin", &self.target],
            Kind::Tests => &["--test", &self.target],
        };
        [&package, target].concat()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = if self.kind == Kind::Tests { &self.target } else { UNIT };
        write!(f, "{} {target}", self.package)
    }
}

/// The program that has the test, and the test's whole path there.
pub(super) fn find(known: &mut Known, name: &str) -> Result<Result<(Place, String), Problem>, TaskError> {
    let parts = name.split_once(' ').and_then(|(package, path)| Some((package, path.split_once("::")?)));
    let Some((package, (target, function))) = parts else { return Ok(Err(Problem::Form(name.into()))) };
    let Some(target) = known.target(package, target) else { return Ok(Err(Problem::NoTarget(name.into()))) };
    if !target.test {
        return Ok(Err(Problem::NotAmongAll(name.into())));
    }
    let place = Place::new(package, target);
    let root = target.src_path.clone();
    let is_it =
        |path: &&String| path.strip_suffix(function).is_some_and(|before| before.is_empty() || before.ends_with("::"));
    let found: Vec<&String> = known.tests(root.as_std_path())?.iter().filter(is_it).collect();
    Ok(match found.as_slice() {
        [] => Err(Problem::NoFunction(name.into())),
        [one] => Ok((place, (*one).clone())),
        several => {
            let several: Vec<&str> = several.iter().map(|path| path.as_str()).collect();
            Err(Problem::Several(name.into(), several.join(" or ")))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Result<(String, String), Problem> {
        let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().unwrap();
        let line = |(place, path): (Place, String)| (place.args().join(" "), path);
        find(&mut Known::new(&metadata), name).unwrap().map(line)
    }

    #[test]
    fn tests_beside_the_code_and_others() {
        let own = "deviations::named::tests::tests_beside_the_code_and_others";
        let args = "--package xtask --bin xtask";
        assert_eq!(found("xtask unit::tests_beside_the_code_and_others"), Ok((args.into(), own.into())));
        let frame =
            Ok(("--package acm-wire --lib".into(), "client::frame::tests::values_outside_limits_are_rejected".into()));
        assert_eq!(found("acm-wire unit::frame::tests::values_outside_limits_are_rejected"), frame);
        let found = found("acm-sim scenarios::determinism::same_seed_same_outputs");
        let path = "determinism::same_seed_same_outputs";
        assert_eq!(found, Ok(("--package acm-sim --test scenarios".into(), path.into())));
    }

    #[test]
    fn names_that_are_none() {
        let problem = |name: &str| found(name).unwrap_err();
        for name in ["acm-sim", "acm-sim scenarios", "scenarios::same_seed_same_outputs"] {
            assert_eq!(problem(name), Problem::Form(name.into()));
        }
        for name in ["acm-sim no_such::f", "no-such unit::f"] {
            assert_eq!(problem(name), Problem::NoTarget(name.into()));
        }
        // Neither a part of a name nor a function that is no test.
        for name in ["acm-sim scenarios::seed_same_outputs", "acm-sim scenarios::determinism::run"] {
            assert_eq!(problem(name), Problem::NoFunction(name.into()));
        }
        let name = "acm-wire unit::any_bytes_do_not_panic";
        assert!(matches!(problem(name), Problem::Several(..)), "{name}");
        let name = "acm-mio vm_kernel::missing_privilege_is_one_warning";
        assert_eq!(problem(name), Problem::NotAmongAll(name.into()));
    }
}
