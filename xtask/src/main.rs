//! Tasks of this project.
fn main() {}
