//! The tasks as programs: `demo`, `install`, `uninstall`, and what `test` installs.
mod demo;
mod install;
mod packages;
