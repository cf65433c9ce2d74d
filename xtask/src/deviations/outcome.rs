//! What a test program said.
use std::collections::BTreeSet;

/// The tests that ran and passed.
pub(super) fn passed(output: &str) -> BTreeSet<&str> {
    output.lines().filter_map(passed_in).collect()
}

fn passed_in(line: &str) -> Option<&str> {
    let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    // A test that is to panic has a note behind its name.
    name.split(' ').next().filter(|_| outcome == "ok")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ran_and_passed() {
        let output = "\nrunning 4 tests\ntest a::one ... ok\ntest a::two - should panic ... ok\n\
            test three ... FAILED\ntest four ... ignored\n\ntest result: FAILED. 2 passed; 1 failed; 1 ignored\n";
        assert_eq!(passed(output), BTreeSet::from(["a::one", "a::two"]));
    }
}
