//! The tasks as programs: `demo`, `install`, `uninstall`, and what `test` installs.
mod install;
mod packages;
