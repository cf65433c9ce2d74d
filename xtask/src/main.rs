//! Tasks of this project.
mod vm;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("vm-test") => vm::run(args),
        _ => {
            eprintln!("tasks: vm-test");
            ExitCode::from(2)
        }
    }
}
