//! Exports the functions that libraries of providers use. Without these options the linker exports none of a program.

fn main() {
    // The build script of acm-plugin has the names. Without the feature `plugins` there are none.
    for symbol in std::env::var("DEP_ACM_PLUGIN_SHIM_SYMBOLS").unwrap_or_default().split_whitespace() {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={symbol}");
    }
}
