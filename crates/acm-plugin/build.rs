//! Compiles the C file, and exports the daemon's functions from the tests of this crate.

fn main() {
    println!("cargo:rerun-if-changed=src/shim.c");
    println!("cargo:rerun-if-changed=src/symbols.txt");
    cc::Build::new().file("src/shim.c").warnings(true).extra_warnings(true).compile("acm_plugin_shim");
    for symbol in include_str!("src/symbols.txt").lines() {
        println!("cargo:rustc-link-arg-tests=-Wl,--export-dynamic-symbol={symbol}");
    }
}
