//! The example that reads captures, with those of `testdata/`, and those that write datagrams.
#[expect(dead_code, reason = "its `main`")]
#[path = "../examples/decode_pcap.rs"]
mod decode_pcap;

#[path = "../examples/answer_queries.rs"]
mod answer_queries;
#[path = "../examples/write_mads.rs"]
mod write_mads;

fn printed(file: &str, verbose: bool) -> String {
    let file = format!("{}/../../testdata/captures/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut out = Vec::new();
    decode_pcap::decode(&file, verbose, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn captures_are_read_as_they_are_in_the_repository() {
    let lines = printed("mads-erf.pcap.gz", false);
    assert!(lines.lines().count() > 1000, "{}", lines.lines().count());
    assert!(lines.contains("SubnDirectedRoute Get NodeInfo"), "{}", lines.get(..2000).unwrap_or(&lines));
    assert!(printed("cm-roce.pcap.gz", true).contains("CommMgmt"));
}

/// `-v`: below the line of a datagram's headers stand its fields, each on a line of its own, and none of the short
/// form's braces.
#[test]
fn with_v_each_field_has_a_line() {
    let lines = printed("mads-erf.pcap.gz", true);
    let from = lines.find("SubnAdm Get PathRecord").expect("a path query");
    let query: Vec<&str> = lines[from..].lines().take(8).collect();
    assert!(query.iter().skip(1).any(|line| line.trim_start().starts_with("dgid ")), "{query:#?}");
    assert!(query.iter().all(|line| !line.contains('{')), "{query:#?}");
    assert!(lines.lines().count() > 10 * printed("mads-erf.pcap.gz", false).lines().count());
}

#[test]
fn a_query_in_a_capture_prints_what_it_asks() {
    let lines = printed("mads-erf.pcap.gz", false);
    let query = lines.lines().find(|line| line.contains("SubnAdm Get PathRecord")).expect("a path query");
    assert!(query.contains("dgid=") && !query.contains("preference="), "{query}");
}

#[test]
fn datagrams_are_written_and_answered() {
    write_mads::main().unwrap();
    answer_queries::main().unwrap();
}
