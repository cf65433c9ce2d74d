//! The manual page `dist/acm-ib_acme.1`, generated from the command line's help. A test compares the file with the
//! help, so that the program needs no generator.
use crate::{args::Args, commands};
use clap::CommandFactory;
use clap_mangen::Man;
use std::{fs, path::Path};

const REST: &str = r#".SH EXIT STATUS
0 if the last path was found; 1 for a wrong command line, and for what \fB\-\-diff\fR or \fB\-\-trace\fR found amiss;
what becomes of \-1 (255) if there was no path; the error's number if the last daemon was not there.
.SH FILES
.TP
\fI/run/ibacm\-unix.sock\fR
The daemon of this node.
.TP
\fI/run/ibacm\-tcp.port\fR
Its port, if it serves TCP; that of other hosts, too.
.SH SEE ALSO
.BR ib_acme (1),
.BR acm\-mio (8),
.BR ibacm (7)
"#;

fn page() -> String {
    let mut text = Vec::new();
    let man = Man::new(Args::command().name("acm-ib_acme")).section("1").date("").manual("acm");
    man.render(&mut text).unwrap();
    let mut commands = commands::add_to(clap::Command::new("acm-ib_acme"));
    commands.build();
    for command in commands.get_subcommands().filter(|command| command.get_name() != "help") {
        add(command, "", &mut text);
    }
    String::from_utf8(text).unwrap() + REST
}

/// Adds a section for a command, and for each of its subcommands.
fn add(command: &clap::Command, before: &str, text: &mut Vec<u8>) {
    let name = format!("{before}{}", command.get_name());
    let man = Man::new(command.clone());
    let mut section = Vec::new();
    man.render_description_section(&mut section).unwrap();
    man.render_options_section(&mut section).unwrap();
    let section = String::from_utf8(section).unwrap().replace(".SH DESCRIPTION\n", "").replace(".SH OPTIONS\n", "");
    text.extend(format!(".SH COMMAND {}\n{section}", name.to_uppercase()).into_bytes());
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        add(subcommand, &format!("{name} "), text);
    }
}

#[test]
fn manual_page_equals_help() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/acm-ib_acme.1");
    if std::env::var_os("UPDATE_MAN").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let is_so = fs::read_to_string(&path).is_ok_and(|text| text == page());
    assert!(is_so, "dist/acm-ib_acme.1 differs from the help texts: run UPDATE_MAN=1 cargo test -p acm-client");
}
