//! Tests of the examples: the capture reader, programs that write and answer datagrams, and the programs of the book.
#[cfg(feature = "capture")]
#[expect(dead_code, reason = "its `main`")]
#[path = "../../examples/decode_pcap.rs"]
mod decode_pcap;

#[path = "../../examples/answer_queries.rs"]
mod answer_queries;
#[cfg(feature = "arbitrary")]
#[expect(dead_code, reason = "its `main`")]
#[path = "../../examples/fuzzer.rs"]
mod fuzzer;
#[path = "../../examples/write_mads.rs"]
mod write_mads;

#[cfg(feature = "capture")]
fn printed(file: &str, verbose: bool) -> String {
    let file = format!("{}/../../testdata/captures/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut out = Vec::new();
    decode_pcap::decode(&file, verbose, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[cfg(feature = "capture")]
#[test]
fn decode_pcap_prints_the_captures() {
    let lines = printed("mads-erf.pcap.gz", false);
    assert!(lines.lines().count() > 1000, "{}", lines.lines().count());
    assert!(lines.contains("SubnDirectedRoute Get NodeInfo"), "{}", lines.get(..2000).unwrap_or(&lines));
    assert!(printed("cm-roce.pcap.gz", true).contains("CommMgmt"));
}

/// With `-v`, the fields follow the line of the headers, one on each line and without the braces of the short form.
#[cfg(feature = "capture")]
#[test]
fn decode_pcap_verbose_prints_one_field_a_line() {
    let lines = printed("mads-erf.pcap.gz", true);
    let from = lines.find("SubnAdm Get PathRecord").expect("a path query");
    let query: Vec<&str> = lines[from..].lines().take(8).collect();
    assert!(query.iter().skip(1).any(|line| line.trim_start().starts_with("dgid ")), "{query:#?}");
    assert!(query.iter().all(|line| !line.contains('{')), "{query:#?}");
    assert!(lines.lines().count() > 10 * printed("mads-erf.pcap.gz", false).lines().count());
}

#[cfg(feature = "capture")]
#[test]
fn decode_pcap_prints_queries_by_their_component_mask() {
    let lines = printed("mads-erf.pcap.gz", false);
    let query = lines.lines().find(|line| line.contains("SubnAdm Get PathRecord")).expect("a path query");
    assert!(query.contains("dgid=") && !query.contains("preference="), "{query}");
}

#[test]
fn examples_that_write_and_answer_run() {
    write_mads::main().unwrap();
    answer_queries::main().unwrap();
}

/// `UPDATE_BOOK=1` copies the examples into the pages.
#[test]
fn pages_of_the_book_contain_their_examples() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (page, example) in [
        ("perfquery", "ib-device/examples/perfquery.rs"),
        ("administrator", "ib-device/examples/administrator.rs"),
        ("analyser", "ib-mad/examples/analyser.rs"),
        ("fuzzer", "ib-mad/examples/fuzzer.rs"),
    ] {
        let (place, program) = (crates.join("ib-mad/docs").join(page).with_extension("md"), crates.join(example));
        let (text, program) = (std::fs::read_to_string(&place).unwrap(), std::fs::read_to_string(program).unwrap());
        assert!(program.lines().count() < 45, "{example} has {} lines", program.lines().count());
        let start = text.find("```rust,").and_then(|at| Some(at + text[at..].find('\n')? + 1)).unwrap();
        let end = start + text[start..].find("```").unwrap();
        if std::env::var_os("UPDATE_BOOK").is_some() {
            std::fs::write(place, [&text[..start], &program, &text[end..]].concat()).unwrap();
        } else {
            assert_eq!(&text[start..end], program, "{page}: UPDATE_BOOK=1 puts the example into the page");
        }
    }
}

#[cfg(feature = "arbitrary")]
#[test]
fn fuzzer_of_the_book_draws_requests() {
    let answered = (0..5000).filter(|run| fuzzer::fuzz(*run)).count();
    assert!((20..4000).contains(&answered), "{answered}");
}
