//! The name by which programs look for the library when they start.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libibacm.so.1");
}
