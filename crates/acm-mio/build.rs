//! Exports the functions that libraries of providers use. Without these options the linker exports none of a program.

fn main() {
    println!("cargo:rerun-if-changed=../acm-plugin/src/symbols.txt");
    if std::env::var_os("CARGO_FEATURE_PLUGINS").is_none() {
        return;
    }
    for symbol in include_str!("../acm-plugin/src/symbols.txt").lines() {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={symbol}");
    }
}
