//! The command blocks of the project's documents, as a reader gives them.
//!
//! A block is what stands between two lines of three backquotes. Behind the first of them stands what it is:
//!
//! - `console`: commands behind `$ `, each with what it prints, in which a line `...` stands for any number of lines;
//! - `sh`, or nothing: commands alone, which have to succeed;
//! - `ibacm_opts.cfg`: options;
//! - `rust`: a program, if the documentation of a crate has the file, so that rustdoc runs it;
//! - `text`: none of these; `mermaid`: a picture, which the page on the web shows.
//!
//! Then, where it is not shown to readers: `in-clone` (its commands are given in the project's own directory), or
//! `not-run="REASON"`. A comment `<!-- run: COMMAND -->` outside of all blocks is a command that readers have no need of.
//!
//! A comment `<!-- not-run: REASON -->` is for all blocks of its page: another test has them.
//!
//! The blocks of a document are one session: variables and background jobs live on, in a temporary directory, with
//! /run, /var/log and a network of their own.
mod check;
mod markdown;
mod mask;
mod shell;
mod transcript;

pub use check::{Report, check};
