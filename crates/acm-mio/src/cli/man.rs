//! The manual page `dist/acm-mio.8`: the text of `--help`, with files and signals; and completions for shells. Both are
//! files in the repository, so that the daemon does not depend on their generators.
use super::Args;
use clap::{Arg, Command, CommandFactory, builder::PossibleValue};
use clap_complete::Shell;
use clap_mangen::Man;
use std::{fs, path::Path};

const REST: &str = r#".SH FILES
.TP
\fI/etc/rdma/ibacm_opts.cfg\fR
Options. The file may be absent.
.TP
\fI/etc/rdma/ibacm_addr.cfg\fR
Addresses of this node. The file may be absent.
.TP
\fI/run/ibacm\-unix.sock\fR, \fI/run/ibacm.sock\fR
The socket that ib_acme connects to, and the link that librdmacm connects to.
.SH SIGNALS
.TP
SIGHUP
Opens the log again, and reads options, addresses and preload files again.
.TP
SIGUSR1
Writes the counters into the log.
.TP
SIGTERM, SIGINT
Leaves the multicast groups and ends. If systemd restarts the daemon, the next one takes over the connections of clients.
.SH EXIT STATUS
The daemon: 0 when the sockets are served, without \fB\-P\fR; 255 if ibacm would report a failed initialization; 1 for any other failure.
.SH IN PLACE OF IBACM
The units of acm\-mio and of ibacm exclude each other. These commands change over:
.PP
.EX
systemctl disable \-\-now ibacm.socket ibacm.service
systemctl mask ibacm.socket ibacm.service
systemctl enable \-\-now acm\-mio.socket acm\-mio.service
.EE
.PP
These commands change back:
.PP
.EX
systemctl disable \-\-now acm\-mio.socket acm\-mio.service
systemctl unmask ibacm.socket ibacm.service
systemctl enable \-\-now ibacm.socket ibacm.service
.EE
.SH SEE ALSO
.BR acmctl (8),
.BR ibacm_opts.cfg (5),
.BR ibacm_addr.cfg (5),
.BR ibacm_hosts.data (5),
.BR ibacm_route.data (5),
.BR acm_prov (7),
.BR acm\-ib_acme (1),
.BR ibacm (7),
.BR ibacm (8),
.BR systemctl (1)
"#;

fn page() -> String {
    let mut command = Args::command();
    command.build();
    // Without hyphens within options.
    let synopsis = format!(".SH SYNOPSIS\n.nh\n.ad l\n{}\n.ad b\n.hy\n", synopsis(&command));
    let mut text = Vec::new();
    Man::new(command).section("8").date("").manual("acm").render(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    // The section of clap_mangen lacks the values, and sets a space after the options of one letter.
    let (before, rest) = text.split_once(".SH SYNOPSIS\n").unwrap();
    let (_, after) = rest.split_once('\n').unwrap();
    before.to_owned() + &synopsis + after + REST
}

/// Returns the options of a command with their values.
fn synopsis(command: &Command) -> String {
    let mut words = vec![format!("\\fB{}\\fR", escaped(command.get_name()))];
    for option in command.get_arguments().filter(|argument| !argument.is_positional() && !argument.is_hide_set()) {
        words.push(format!("[{}]", with_value(option)));
    }
    words.join("\n")
}

fn with_value(option: &Arg) -> String {
    let short = option.get_short().map(|letter| format!("-{letter}"));
    let long = option.get_long().map(|name| format!("--{name}"));
    let names: Vec<String> = short.into_iter().chain(long).map(|name| format!("\\fB{}\\fR", escaped(&name))).collect();
    let value = option.get_value_names().filter(|_| option.get_action().takes_values());
    let value = value.map(|names| format!("\\ \\fI{}\\fR", escaped(&names.join(" ")))).unwrap_or_default();
    names.join("|") + &value
}

fn escaped(text: &str) -> String {
    text.replace('-', "\\-")
}

/// Words of options whose parsers accept other text as well. They are only offered.
const WORDS: [(&str, &[&str]); 1] = [("fabric", &["devices", "embedded", "sim:"])];

/// Returns the options that completions offer: without hidden ones, and with words.
fn completed() -> Command {
    let command = Args::command();
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set()).map(|argument| {
        let words = WORDS.iter().find(|(name, _)| argument.get_id() == name).map(|(_, words)| *words);
        // Requirements name groups, which completions do not need.
        let argument = argument.clone();
        match words {
            Some(words) => argument.value_parser(words.iter().map(PossibleValue::new).collect::<Vec<_>>()),
            None => argument,
        }
    });
    let groups = command.get_groups().cloned();
    Command::new("acm-mio").version(env!("CARGO_PKG_VERSION")).args(shown).groups(groups)
}

#[test]
fn completions_are_those_of_the_options() {
    for (shell, end) in [(Shell::Bash, "bash"), (Shell::Fish, "fish"), (Shell::Zsh, "zsh")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("dist/completions/acm-mio.{end}"));
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut completed(), "acm-mio", &mut script);
        let text = String::from_utf8_lossy(&script);
        for word in ["embedded", "alias", "any"] {
            assert!(text.contains(word), "{path:?} does not offer {word}");
        }
        assert!(!text.contains("detach"), "{path:?} offers an internal option");
        if std::env::var_os("UPDATE_MAN").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &script).unwrap();
        }
        let is_so = fs::read(&path).is_ok_and(|text| text == script);
        assert!(is_so, "{path:?} is not of these options: UPDATE_MAN=1 cargo test -p acm-mio cli writes it");
    }
}

#[test]
fn manual_page_is_that_of_the_options() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/acm-mio.8");
    if std::env::var_os("UPDATE_MAN").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let is_so = fs::read_to_string(&path).is_ok_and(|text| text == page());
    assert!(is_so, "dist/acm-mio.8 is not of these options: UPDATE_MAN=1 cargo test -p acm-mio cli writes it");
}
