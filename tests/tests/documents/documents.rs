//! Runs all blocks of commands in the documents and compares their output.
//!
//! `cargo test -p acm-tests --test documents documents -- --nocapture` lists the blocks that are not run, with the
//! reasons.
use acm_tests::{LIMIT, Report, check};
use core::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use std::{fs, path::Path, thread};

/// Number of documents that are checked concurrently.
const READERS: usize = 3;

/// Returns the documents with commands, each with its name.
fn documents() -> Vec<(String, String)> {
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let guides = fs::read_dir(clone.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut guides: Vec<_> = guides.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    guides.sort();
    let files = ["README.md", "CONTRIBUTING.md"].into_iter().map(|name| clone.join(name)).chain(guides);
    files
        .map(|path| {
            let name = path.strip_prefix(clone).unwrap().display().to_string();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

#[test]
fn output_of_all_command_blocks_is_as_documented() {
    let (documents, next) = (documents(), AtomicUsize::new(0));
    // Each document has its own shell and network, and waits for its daemons most of the time.
    let reader = || {
        let mut reports = Vec::new();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some((name, text)) = documents.get(index)
        {
            reports.push((index, check(name, text, LIMIT)));
        }
        reports
    };
    let mut reports: Vec<(usize, Report)> = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(reader)).collect();
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
    });
    reports.sort_by_key(|(index, _)| *index);
    let (mut commands, mut not_run, mut faults) = (0, Vec::new(), Vec::new());
    for (_, report) in reports {
        commands += report.commands;
        not_run.extend(report.not_run);
        faults.extend(report.faults);
    }
    println!("{commands} commands were run; {} blocks or pages were not:\n{}", not_run.len(), not_run.join("\n"));
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(commands > 0, "the documents have no commands");
}

/// Each example document is valid, or has the given fault.
#[test]
fn faults_of_documents_are_reported() {
    let fault = |text: &str| {
        let report = check("d.md", text, Duration::ZERO);
        assert!(report.faults.len() <= 1, "{report:?}");
        report.faults.into_iter().next().unwrap_or_default()
    };
    for good in [
        "# A title\n\n```text\nfalse\n```\n",
        "```\nA=1   # a comment\n# another\ntest $A = 1\n```\n",
        "<!-- run: A=7 -->\n```console\n$ echo $A\n7\n$ true\n$ echo \\\n  8\n8\n```\n",
        "```console\n$ printf 'a\\nb\\nc\\n\\n'\na\n...\n```\n```console\n$ echo a\n...\na\n...\n```\n",
        "```console\n$ date +%FT%T.%3N:\n2026-01-31T12:34:56.789:\n$ mktemp -d -u\n/tmp/tmp.abcDEF0123\n```\n",
        "1. A step:\n\n   ```console\n   $ echo 1; echo '  2'\n   1\n     2\n   ```\n",
        "```sh not-run=\"it fails\"\nfalse\n```\n",
        "```ibacm_opts.cfg\ntimeout 500\n```\n",
        "```sh in-clone\ntest -f tests/tests/documents/documents.rs\n```\n",
    ] {
        assert_eq!(fault(good), "", "{good}");
    }
    for (bad, expected) in [
        ("```\ntrue\nfalse\n```\n", "d.md:1: `false` ends with status 1"),
        ("```console\n$ false\n```\n", "d.md:1: `false` ends with status 1"),
        ("\n```console\n$ echo 1\n2\n```\n", "d.md:2: `echo 1` should print\n2\nand prints\n1"),
        ("```console\n$ echo 1\n```\n", "d.md:1: `echo 1` should print\n\nand prints\n1"),
        ("```console\n$ echo 1 &\n2\n```\n", "d.md:1: `echo 1 &` should print\n2"),
        ("```console\n$ echo a\na\nb\n```\n", "d.md:1: `echo a` should print"),
        ("```console\nnothing\n```\n", "d.md:1: a line before the first command"),
        ("```rust\nfn main() {}\n```\n", "d.md:1: no crate's documentation has this file"),
        ("```python\n1\n```\n", "d.md:1: \"python\" is no kind of block"),
        ("```sh not-run\n1\n```\n", "d.md:1: \"not-run\" is not understood"),
        ("```sh not-run=\"\"\n1\n```\n", "d.md:1: \"not-run=\\\"\\\"\" is not understood"),
        ("```sh\ntrue\n", "d.md:1: a block without an end"),
        ("```ibacm_opts.cfg\ntimeout 500\nretrys 3\n```\n", "d.md:1: line 2, column 1: no such option"),
        ("<!-- run: false -->\n", "d.md:1: `false` ends with status 1"),
    ] {
        let fault = fault(bad);
        assert!(fault.starts_with(expected), "{bad}\n{fault}");
    }
    let program = check("docs/recipes.md", "```rust\nfn main() {}\n```\n", Duration::ZERO);
    assert_eq!(program.faults, Vec::<String>::new(), "acm-sim's documentation has it");
    let page = "<!-- not-run: elsewhere -->\n```sh\nfalse\n```\n```log\nfalse\n```\n";
    assert_eq!(check("d.md", page, Duration::ZERO).not_run, ["d.md, 2 blocks: elsewhere"]);
    assert_eq!(check("d.md", "```sh not-run=\"it fails\"\nfalse\n```\n", Duration::ZERO).not_run, ["d.md:1: it fails"]);
}
