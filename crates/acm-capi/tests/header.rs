//! Compares the checked-in header with the output of cbindgen. `UPDATE_HEADER=1 cargo test -p acm-capi --test header`
//! writes the file.
use std::{env, fs, path::Path};

#[test]
fn checked_in_header_equals_the_output_of_cbindgen() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_crate(package).with_config(config).generate().unwrap();
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    let (generated, file) = (String::from_utf8(generated).unwrap(), package.join("include/libacm.h"));
    if env::var_os("UPDATE_HEADER").is_some() {
        fs::write(file, generated).unwrap();
        return;
    }
    assert_eq!(
        fs::read_to_string(file).unwrap(),
        generated,
        "run UPDATE_HEADER=1 cargo test -p acm-capi --test header"
    );
}
