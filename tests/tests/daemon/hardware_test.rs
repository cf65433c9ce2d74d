//! The script `dist/acm-hardware-test`, with devices of a simulated fabric.
use acm_tests::{Binary, Finished, Kind, Lab, binary};
use std::{fs, path::Path};

/// Runs the script at node1, with a report in this folder.
fn hardware_test(lab: &Lab, folder: &Path, arguments: &str) -> Finished {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("dist/acm-hardware-test");
    let programs = [binary(Binary::AcmMio), binary(Binary::IbAcme)];
    let [daemon, client] = programs.each_ref().map(|program| program.parent().unwrap().display());
    let (script, report) = (script.display(), folder.join("report"));
    let line = format!("PATH={daemon}:{client}:$PATH exec sh {script} -o {} {arguments}", report.display());
    lab.run(1, Path::new("/bin/sh"), &["-c", &line])
}

#[test]
fn hardware_test_passes_beside_a_peer_and_writes_a_report() {
    let (lab, folder) = (Lab::new(2, &[]), tempfile::tempdir().unwrap());
    let _peer = lab.start(2, Kind::Rust, &[]);
    let finished = hardware_test(&lab, folder.path(), "-p node2");
    assert_eq!(finished.code, Some(0), "{finished}");
    for step in [
        "a port is active",
        "the group is joined",
        "the SA confirms the path",
        "the SA accepts a subscription to notices",
        "the SA confirms the path to node2",
        "100 requests are answered",
    ] {
        assert!(finished.stdout.contains(&format!("PASS {step}\n")), "{step}: {finished}");
    }
    let report = fs::read_to_string(folder.path().join("report")).unwrap();
    let parts = ["ports/1/link_layer:InfiniBand", "join successful", "node2 at ibsim0/1 ", "RESULT passed\n"];
    for part in parts {
        assert!(report.contains(part), "{part:?} in {report}");
    }
}

#[test]
fn hardware_test_names_the_step_that_fails() {
    let (lab, folder) = (Lab::new(1, &[]), tempfile::tempdir().unwrap());
    let finished = hardware_test(&lab, folder.path(), "-p node2");
    assert_eq!(finished.code, Some(1), "{finished}");
    assert!(finished.stdout.contains("FAIL peer node2 resolves\n"), "{finished}");
    assert!(finished.stdout.contains("RESULT failed\n"), "{finished}");
}
