//! The manual page `dist/acm-ib_acme.1`, generated from the command line's help. A test compares the file with the
//! help, so that the program needs no generator.
use crate::{args::Args, commands};
use clap::{Arg, Command, CommandFactory};
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
.BR ibacm_addr.cfg (5),
.BR ibacm_hosts.data (5),
.BR ibacm_opts.cfg (5),
.BR ibacm (7)
"#;

fn page() -> String {
    let mut own = Args::command().name("acm-ib_acme");
    own.build();
    let mut commands = commands::add_to(Command::new("acm-ib_acme"));
    commands.build();
    // Without hyphens within options.
    let synopsis = format!(
        ".SH SYNOPSIS\n.nh\n.ad l\n{}{}.ad b\n.hy\n",
        synopsis(&own, "acm-ib_acme"),
        synopses(&commands, "acm-ib_acme")
    );
    let mut text = Vec::new();
    Man::new(own).section("1").date("").manual("acm").render(&mut text).unwrap();
    // The section of clap_mangen lacks the values, and sets a space after the options of one letter.
    let page = String::from_utf8(text).unwrap();
    let (before, rest) = page.split_once(".SH SYNOPSIS\n").unwrap();
    let (_, after) = rest.split_once('\n').unwrap();
    let mut text = (before.to_owned() + &synopsis + after).into_bytes();
    for command in commands.get_subcommands().filter(|command| command.get_name() != "help") {
        add(command, "", &mut text);
    }
    String::from_utf8(text).unwrap() + REST
}

/// Returns the synopses of the subcommands.
fn synopses(command: &Command, before: &str) -> String {
    let own = command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
    own.map(|subcommand| {
        let words = format!("{before} {}", subcommand.get_name());
        format!(".br\n{}{}", synopsis(subcommand, &words), synopses(subcommand, &words))
    })
    .collect()
}

/// Returns the words of a command, and its arguments with their values.
fn synopsis(command: &Command, words: &str) -> String {
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let arguments =
        arguments.map(|argument| if argument.is_required_set() { value(argument) } else { option(argument) });
    format!("\\fB{}\\fR\n{}", escaped(words), arguments.map(|argument| argument + "\n").collect::<String>())
}

fn option(argument: &Arg) -> String {
    let short = argument.get_short().map(|letter| format!("-{letter}"));
    let long = argument.get_long().map(|name| format!("--{name}"));
    let names: Vec<String> = short.into_iter().chain(long).map(|name| format!("\\fB{}\\fR", escaped(&name))).collect();
    let is_optional = argument.get_num_args().is_some_and(|range| range.min_values() == 0);
    let value = match value(argument) {
        _ if !argument.get_action().takes_values() => String::new(),
        value if argument.is_require_equals_set() => format!("[={value}]"),
        value if is_optional => format!("\\ [{value}]"),
        value => format!("\\ {value}"),
    };
    format!("[{}{value}]", names.join("|"))
}

fn value(argument: &Arg) -> String {
    let names = argument.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    format!("\\fI{}\\fR", escaped(&names))
}

fn escaped(text: &str) -> String {
    text.replace('-', "\\-")
}

/// Adds a section for a command, and for each of its subcommands.
fn add(command: &Command, before: &str, text: &mut Vec<u8>) {
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/acm-ib_acme.1");
    if std::env::var_os("UPDATE_MAN").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let is_so = fs::read_to_string(&path).is_ok_and(|text| text == page());
    assert!(is_so, "dist/acm-ib_acme.1 differs from the help texts: run UPDATE_MAN=1 cargo test -p acm-client");
}
