//! The command blocks of the project's documents, executed as a reader does.
//!
//! A block is the text between two lines of three backquotes. The word after the first backquotes is its kind:
//!
//! - `console`: commands after `$ `, each with its output, in which a line `...` stands for any number of lines;
//! - `sh`, or nothing: commands without output, which must succeed;
//! - `ibacm_opts.cfg`: options;
//! - `rust`: a program that rustdoc runs, because the documentation of a crate includes the file;
//! - `text`: other text; `mermaid`: a picture.
//!
//! Further words, which readers do not see: `in-clone` (the commands run in the project's directory) and
//! `not-run="REASON"`. A comment `<!-- run: COMMAND -->` outside of all blocks is a command that readers do not need.
//!
//! A comment `<!-- not-run: REASON -->` applies to all blocks of its page, which another test covers.
//!
//! The blocks of a document are one session in a temporary directory: variables and background jobs persist. Each
//! session has its own /run, /var/log and network.
mod check;
mod markdown;
mod mask;
mod shell;
mod transcript;

pub use check::{Report, check};
