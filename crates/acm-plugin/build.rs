//! Compiles the C file, and exports the daemon's functions: from the tests of this crate, and from programs whose build
//! script reads their names from `DEP_ACM_PLUGIN_SHIM_SYMBOLS`.

fn main() {
    println!("cargo:rerun-if-changed=src/shim.c");
    println!("cargo:rerun-if-changed=src/symbols.txt");
    cc::Build::new().file("src/shim.c").warnings(true).extra_warnings(true).compile("acm_plugin_shim");
    let symbols: Vec<&str> = include_str!("src/symbols.txt").lines().collect();
    for symbol in &symbols {
        println!("cargo:rustc-link-arg-tests=-Wl,--export-dynamic-symbol={symbol}");
    }
    println!("cargo:symbols={}", symbols.join(" "));
}
