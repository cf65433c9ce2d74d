//! The header that is checked in is the one that cbindgen makes of this crate: `UPDATE_HEADER=1 cargo test -p acm-capi
//! --test header` writes it.
use std::{env, fs, path::Path};

#[test]
fn the_header_is_that_of_the_code() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_crate(package).with_config(config).generate().unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let (made, file) = (String::from_utf8(made).unwrap(), package.join("include/libacm.h"));
    if env::var_os("UPDATE_HEADER").is_some() {
        fs::write(file, made).unwrap();
        return;
    }
    assert_eq!(fs::read_to_string(file).unwrap(), made, "run UPDATE_HEADER=1 cargo test -p acm-capi --test header");
}
