//! Exports to providers what they take of a daemon: a linker hides what a program has, unless it is told.

fn main() {
    println!("cargo:rerun-if-changed=../acm-plugin/src/symbols.txt");
    if std::env::var_os("CARGO_FEATURE_PLUGINS").is_none() {
        return;
    }
    for symbol in include_str!("../acm-plugin/src/symbols.txt").lines() {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={symbol}");
    }
}
