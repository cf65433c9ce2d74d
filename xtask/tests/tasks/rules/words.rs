//! First words of documentation.
use super::{none, read, root, shown, sources};

/// A doc comment begins with a verb in the third person or with a noun phrase (rule 18), and not with these words.
const WORDS: [&str; 6] = ["What", "Who", "Whoever", "Which", "Whether", "Whose"];

#[test]
fn doc_comments_begin_with_a_verb_or_a_noun() {
    let mut defects = Vec::new();
    for folder in ["crates", "examples", "fuzz/fuzz_targets", "tests", "xtask"] {
        for file in sources(&root().join(folder)).into_iter().filter(|file| !shown(file).contains("/target/")) {
            defects.extend(first_words(&read(&file)).into_iter().map(|line| format!("{}:{line}", shown(&file))));
        }
    }
    none(defects);
}

/// The lines of doc comments that begin with one of [`WORDS`].
fn first_words(text: &str) -> Vec<usize> {
    let comment = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::to_owned)
    };
    let (mut lines, mut is_inside) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        let comment = comment(line);
        let word = comment.as_deref().and_then(|text| text.split_whitespace().next()).unwrap_or_default();
        if !is_inside && WORDS.contains(&word.trim_end_matches(|end: char| !end.is_alphabetic())) {
            lines.push(number);
        }
        is_inside = comment.is_some();
    }
    lines
}

#[test]
fn only_the_first_line_of_a_comment_counts() {
    let text = "//! What this is.\n//! Who reads it.\n\n/// Returns it.\n/// Whether or not.\nfn f() {}\n    /// Whose?\n// What\n";
    assert_eq!(first_words(text), [1, 7]);
}
