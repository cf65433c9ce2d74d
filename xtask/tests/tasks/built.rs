//! Stand-ins for the files that the build makes.
use std::{fs, path::Path, process::Command};

/// Small programs and libraries with debug information, and texts, in the place of what the build makes.
pub(crate) fn stand_ins(folder: &Path) {
    for name in ["acm-mio", "acmctl", "ib_acme", "ib-sim", "acm-replay"] {
        compile(folder, name, &[]);
    }
    for (name, soname) in [
        ("libibacm.so", "libibacm.so.1"),
        ("libacmrs.so", "libacmrs.so"),
        ("libib_sim_preload.so", "libib_sim_preload.so"),
    ] {
        compile(folder, name, &["-shared", "-fPIC", &format!("-Wl,-soname,{soname}")]);
    }
    compile(folder, "source.o", &["-c"]);
    run(Command::new("ar").args(["rcsD", "libibacm.a", "source.o"]).current_dir(folder));
    for shell in ["bash", "fish", "zsh"] {
        for name in ["acm-ib_acme", "ib_acme"] {
            fs::write(folder.join(format!("{name}.{shell}")), format!("# completions of {name}\n")).unwrap();
        }
    }
}

fn compile(folder: &Path, name: &str, options: &[&str]) {
    // Different bytes, and therefore different names of debug information.
    fs::write(folder.join("source.c"), format!("int main(void) {{ return 0; }} const char *name = \"{name}\";\n"))
        .unwrap();
    run(Command::new("cc").args(["-g", "-O2", "-o", name]).args(options).arg("source.c").current_dir(folder));
}

/// Runs a command that must succeed, and returns its output.
pub(crate) fn run(command: &mut Command) -> String {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().unwrap_or_else(|error| panic!("{name}: {error}"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{name}: {}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    text
}
