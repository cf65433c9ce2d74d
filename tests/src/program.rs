//! Programs that this project did not write.
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Where the program is; without it, the test says which Debian package has it.
#[must_use]
pub fn program(name: &str, package: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    // Those of administrators are not in everybody's PATH.
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from));
    let mut places = folders.map(|folder| folder.join(name));
    places.find(|place| place.is_file()).unwrap_or_else(|| missing(name, package))
}

/// Where the shared library is: under one of the folders in `/usr/lib`.
#[must_use]
pub fn library(name: &str, package: &str) -> PathBuf {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut places = folders.chain([Path::new("/usr/lib").to_owned()]).map(|folder| folder.join(name));
    places.find(|place| place.is_file()).unwrap_or_else(|| missing(name, package))
}

fn missing(name: &str, package: &str) -> ! {
    panic!("this test needs {name}: install the Debian package {package} (apt-get install {package})")
}
