//! The commands in docs/install.md that replace ibacm by the daemon, and restore it, exactly as they are in the
//! document.
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the document's blocks for the virtual machine, each with the heading above it.
fn blocks(text: &str) -> Vec<(String, String)> {
    let (mut blocks, mut heading, mut open) = (Vec::new(), String::new(), None::<String>);
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) if info.contains("vm-test") => open = Some(String::new()),
            (Some(block), Some(_)) => {
                blocks.push((heading.clone(), core::mem::take(block)));
                open = None;
            }
            (Some(block), None) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {
                if let Some(title) = line.strip_prefix('#') {
                    heading = title.trim_matches(['#', ' ']).to_owned();
                }
            }
        }
    }
    blocks
}

#[test]
fn commands_of_the_document_replace_ibacm_and_restore_it() {
    assert!(std::env::var_os("ACM_VM").is_some(), "not in the virtual machine: run `cargo xtask vm-test`");
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(package.join("../../docs/install.md")).unwrap();
    assert!(text.contains(concat!("git clone ", env!("CARGO_PKG_REPOSITORY"), "\n")));
    let (folder, mut names) = (tempfile::tempdir().unwrap(), Vec::new());
    for (heading, commands) in blocks(&text) {
        fs::write(folder.path().join(heading.to_lowercase().replace(' ', "-")), commands).unwrap();
        names.push(heading);
    }
    // `cargo xtask vm-test` has built all programs.
    let programs: PathBuf = Path::new(env!("CARGO_BIN_EXE_acm-mio")).parent().unwrap().into();
    let mut script = Command::new("sh");
    let output = script.arg(package.join("tests/vm_kernel/install.sh")).arg(folder.path()).arg(programs).output();
    let output = output.unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ok: Vec<&str> = output_text.lines().filter_map(|line| line.strip_prefix("ok ")).collect();
    let expected = [
        "ibacm serves",
        "Build and install",
        "nothing was started",
        "Check",
        "the check has the limits of the unit",
        "nothing was started by the check",
        "Change over",
        "acm-mio serves",
        "Try",
        "acm-mio serves after a boot",
        "ibacm is kept away",
        "A newer one",
        "the newer one serves",
        "The way back",
        "ibacm serves again",
        "nothing is left",
        "configuration is left",
    ];
    assert_eq!(ok, expected, "{output_text}\n{}", String::from_utf8_lossy(&output.stderr));
    // Each block of the document was run once, in order.
    let given: Vec<&str> = ok.into_iter().filter(|what| names.iter().any(|name| name == what)).collect();
    assert_eq!(given, names);
}
