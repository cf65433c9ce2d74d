//! Waits of tests (rule 25): a test waits for a fact, with the limit of all tests. It never waits for a time to pass,
//! and never compares with one, because a busy machine stops any process for seconds.
use super::{none, read, root, shown, sources};
use core::ops::Range;
use std::{collections::BTreeMap, path::Path};

/// The only file that pauses between two looks at a fact, and reads a clock for the limit. Tests of crates include it.
const POLL: &str = "tests/src/poll.rs";

/// Exceptions: the number in each file, which may only fall, and the reason.
const EXCEPTIONS: &[(&str, usize, &str)] = &[
    ("crates/acm-client/src/shared/tests.rs", 1, "a server that renews its memory between two reads"),
    ("crates/acm-client/src/requests/tests.rs", 1, "a virtual time, which the test advances"),
    ("tests/src/bin/acm_user.rs", 5, "it prints latencies, which no test compares"),
    ("tests/src/daemons.rs", 5, "benchmarks measure with it"),
    ("tests/src/hostile/honest.rs", 5, "it prints latencies, which no test compares"),
    ("tests/src/documents/check.rs", 1, "the limit is that of its caller"),
    ("tests/tests/daemon/bad_input.rs", 2, "a write that blocks for a while; on a busy machine fewer bytes are enough"),
];

/// Attribute of items for tests beside the code.
const TEST_ITEM: &str = "#[cfg(test)]";

/// Words of code that waits for a time, or measures one.
const TIMES: [&str; 4] = ["sleep", "park_timeout", "Instant", "elapsed"];

/// Functions that wait at most for the time that they are given.
const WAITS: [&str; 10] = [
    "poll",
    "recv_timeout",
    "set_limit",
    "set_read_timeout",
    "set_write_timeout",
    "turn",
    "wait_timeout",
    "wait_timeout_while",
    "wait_within",
    "within",
];

#[test]
fn tests_wait_for_facts_with_one_limit() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Also the packages in workspaces of their own.
    for file in ["crates", "examples", "tests", "xtask"].iter().flat_map(|folder| sources(&root().join(folder))) {
        let (name, text) = (shown(&file), read(&file));
        let has = |parts: &[&str]| Path::new(&name).iter().any(|part| parts.iter().any(|name| part == *name));
        // Benchmarks measure.
        if ![POLL, file!()].contains(&name.as_str()) && !has(&["benches", "target"]) {
            let lines = defects(&text, has(&["tests", "tests.rs", "testing.rs", "testing"])).into_iter();
            let lines = lines.map(|(line, what)| format!("{name}:{line}: {what} (rule 25)"));
            found.insert(name.clone(), lines.collect());
        }
    }
    for (name, count, _) in EXCEPTIONS {
        let lines = found.insert((*name).to_owned(), Vec::new()).unwrap_or_default();
        assert_eq!(lines.len(), *count, "exceptions in {name}, of which there may only be fewer: {lines:#?}");
    }
    none(found.into_values().flatten().collect());
}

/// The lines with a defect, in the whole text or in the items after `#[cfg(test)]`.
fn defects(text: &str, is_test: bool) -> Vec<(usize, &'static str)> {
    // Few files have one of the words, and the rest takes time.
    let may_wait = TIMES.iter().chain(&WAITS).chain(&["LIMIT", "bind"]).any(|word| words(text, word).next().is_some());
    if !may_wait || !(is_test || text.contains(TEST_ITEM)) {
        return Vec::new();
    }
    let (code, strings) = divide(text);
    let all = 0..text.len();
    let parts = if is_test { vec![all] } else { test_items(&code) };
    let mut found = Vec::new();
    let mut add = |at: usize, what| {
        if parts.iter().any(|part| part.contains(&at)) {
            found.push((text[..at].matches('\n').count() + 1, what));
        }
    };
    for at in TIMES.iter().flat_map(|word| words(&code, word)) {
        add(at, "a time that passes or is measured: wait for a fact");
    }
    for (at, arguments, _) in WAITS.iter().flat_map(|name| calls(&code, name)) {
        let has_time = ["Some(", "Duration", "PollTimeout"].iter().any(|word| arguments.contains(word));
        if has_time && !["LIMIT", "LONG", "ZERO", "limit"].iter().any(|word| arguments.contains(word)) {
            add(at, "a limit of this wait only: use `LIMIT` of tests/src/poll.rs");
        }
    }
    for (at, _) in code.match_indices("LIMIT: Duration = ") {
        let seconds = code[at..].split_once("::from_secs(").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
        if seconds.is_none_or(|seconds: u64| seconds < 60) {
            add(at, "a limit under 60 s");
        }
    }
    for (at, _, rest) in calls(&code, "bind") {
        if rest.split_whitespace().collect::<String>().starts_with(".unwrap().local_addr()") {
            add(at, "a port that is free again: keep its socket, or let the program choose its port");
        }
    }
    // A loop waits for a fact, and a process of a minute lives as long as its test.
    for at in words(&strings, "sleep") {
        let line = strings[..at].rsplit('\n').next().unwrap_or_default();
        let seconds = strings[at..].split([' ', '\n', ';', '"']).nth(1).and_then(|seconds| seconds.parse().ok());
        if seconds.is_some_and(|seconds: f64| seconds < 60.0) && !line.contains("until ") {
            add(at, "a shell that sleeps: `until FACT; do sleep 0.1; done`");
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The code, and the contents of its strings, each with spaces in place of the other and of comments.
fn divide(text: &str) -> (String, String) {
    let (mut code, mut strings, mut rest) = (String::new(), String::new(), text);
    while let Some(letter) = rest.chars().next() {
        let is_in_word = code.ends_with(|letter: char| letter == '_' || letter.is_alphanumeric());
        let raw =
            rest.strip_prefix('r').filter(|_| !is_in_word).map(|rest| rest.len() - rest.trim_start_matches('#').len());
        let (length, is_string) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if let Some(hashes) = raw.filter(|hashes| rest[1 + hashes..].starts_with('"')) {
            let end = format!("\"{}", "#".repeat(hashes));
            (rest[2 + hashes..].find(&end).map_or(rest.len(), |at| at + 2 + hashes + end.len()), true)
        } else if letter == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|letter| {
                let is_end = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                is_end
            });
            (end.map_or(rest.len(), |at| at + 2), true)
        } else if letter == '\'' && rest.chars().nth(2) == Some('\'') {
            (2 + rest.chars().nth(1).map_or(0, char::len_utf8), false)
        } else if rest.starts_with("'\\") {
            (rest[3..].find('\'').map_or(rest.len(), |at| at + 4), false)
        } else {
            code.push(letter);
            strings.extend(blank(letter));
            rest = &rest[letter.len_utf8()..];
            continue;
        };
        let (literal, behind) = rest.split_at(length);
        code.extend(literal.chars().flat_map(blank));
        literal.chars().for_each(|letter| match is_string {
            true => strings.push(letter),
            false => strings.extend(blank(letter)),
        });
        rest = behind;
    }
    (code, strings)
}

/// As many bytes as the letter has.
fn blank(letter: char) -> impl Iterator<Item = char> {
    core::iter::repeat_n(if letter == '\n' { '\n' } else { ' ' }, letter.len_utf8())
}

/// The items after `#[cfg(test)]`.
fn test_items(code: &str) -> Vec<Range<usize>> {
    let item = |(start, _): (usize, &str)| {
        let mut depth = 0;
        let end = code[start..].find(|letter| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            depth == 0 && (letter == '}' || letter == ';')
        });
        start..end.map_or(code.len(), |length| start + length)
    };
    code.match_indices(TEST_ITEM).map(item).collect()
}

/// The places of a word.
fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> {
    let is_part = |letter: char| letter == '_' || letter.is_alphanumeric();
    let is_word = move |at: &usize| !text[..*at].ends_with(is_part) && !text[*at + word.len()..].starts_with(is_part);
    text.match_indices(word).map(|(at, _)| at).filter(is_word)
}

/// The calls of a function: their place, their arguments, and the text behind them.
fn calls<'a>(code: &'a str, name: &'a str) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
    words(code, name).filter(|at| !code[..*at].ends_with("fn ")).filter_map(move |at| {
        let behind = code[at + name.len()..].strip_prefix('(')?;
        let mut depth = 1;
        let end = behind.find(|letter| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            depth == 0
        })?;
        Some((at, &behind[..end], &behind[end + 1..]))
    })
}

#[test]
fn waits_for_a_time_and_short_limits_are_found_in_tests_only() {
    for (line, is_defect) in [
        ("thread::sleep(PAUSE);", true),
        ("use std::thread::sleep;", true),
        ("assert!(start.elapsed() < limit);", true),
        ("// It does not sleep.", false),
        ("assert!(!engine_does_not_sleep());", false),
        ("stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();", true),
        ("stream.set_read_timeout(Some(\n    Duration::from_secs(5),\n)).unwrap();", true),
        ("stream.set_read_timeout(Some(LIMIT)).unwrap();", false),
        ("stream.set_read_timeout(None).unwrap();", false),
        ("poll.poll(&mut events, Some(Duration::ZERO)).unwrap();", false),
        ("while pair.poll().is_some() {}", false),
        ("const LIMIT: Duration = Duration::from_secs(59);", true),
        ("const LIMIT: Duration = Duration::from_millis(90_000);", true),
        ("const LIMIT: Duration = Duration::from_secs(60);", false),
        ("let port = TcpListener::bind(\"127.0.0.1:0\")\n    .unwrap()\n    .local_addr();", true),
        ("let listener = TcpListener::bind(\"127.0.0.1:0\").unwrap();", false),
        ("sh(\"start; sleep 1\");", true),
        ("sh(r#\"start; sleep 0.5; \"end\"\"#);", true),
        ("sh(\"until grep -q ready log; do sleep 0.1; done\");", false),
        ("sh(\"exec sleep 600\");", false),
    ] {
        assert_eq!(!defects(line, true).is_empty(), is_defect, "{line}");
        let inside =
            format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n    const QUOTE: char = '\"';\n    {line}\n}}\n");
        assert_eq!(defects(&inside, false).first().map(|(line, _)| *line >= 5), is_defect.then_some(true), "{line}");
        assert_eq!(defects(&format!("fn f() {{\n    {line}\n}}\n#[cfg(test)]\nmod tests;\n"), false), [], "{line}");
    }
}
