//! The manual page `dist/acmctl.8`, with the text of `--help` of each command, and completions for shells. Both are files
//! in the repository, so that the program does not depend on their generators.
use super::commands::Ctl;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::{fs, path::Path};

const REST: &str = r#".SH EXIT STATUS
0: all is well. 1: what was asked for is not there, or the command failed. 2: wrong command line. 3: no daemon answers. 4: the daemon serves, or would serve, and something is wrong.
.SH SEE ALSO
.BR acm\-mio (8),
.BR acm\-ib_acme (1),
.BR acm\-replay (1)
"#;

/// Returns the sections of a command without commands of its own, or of all of these.
fn sections(command: &mut Command) -> String {
    let is_shown = |command: &&mut Command| !command.is_hide_set() && command.get_name() != "help";
    if command.has_subcommands() {
        return command.get_subcommands_mut().filter(is_shown).map(sections).collect();
    }
    let usage = command.render_usage().to_string().replace("Usage: ", "").replace('-', "\\-");
    let mut section = Vec::new();
    let man = Man::new(command.clone());
    man.render_description_section(&mut section).unwrap();
    man.render_options_section(&mut section).unwrap();
    let section = String::from_utf8(section).unwrap().replace(".SH DESCRIPTION\n", "").replace(".SH OPTIONS\n", "");
    let name = usage.split_whitespace().skip(1).take_while(|word| word.starts_with(char::is_lowercase));
    let name = name.collect::<Vec<_>>().join(" ").to_uppercase();
    format!(".SH COMMAND {name}\n\\fB{usage}\\fR\n.PP\n{section}")
}

fn page() -> String {
    let mut command = Ctl::command();
    command.build();
    let mut text = Vec::new();
    let man = Man::new(command.clone()).section("8").date("").manual("acm");
    man.render_title(&mut text).unwrap();
    man.render_name_section(&mut text).unwrap();
    man.render_synopsis_section(&mut text).unwrap();
    man.render_description_section(&mut text).unwrap();
    man.render_options_section(&mut text).unwrap();
    String::from_utf8(text).unwrap() + &sections(&mut command) + REST
}

#[test]
fn manual_page_is_that_of_the_commands() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/acmctl.8");
    if std::env::var_os("UPDATE_MAN").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let is_so = fs::read_to_string(&path).is_ok_and(|text| text == page());
    assert!(is_so, "dist/acmctl.8 is not of these commands: UPDATE_MAN=1 cargo test -p acm-mio --lib man writes it");
}

#[test]
fn completions_are_those_of_the_commands() {
    for (shell, end) in [(Shell::Bash, "bash"), (Shell::Fish, "fish"), (Shell::Zsh, "zsh")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("dist/completions/acmctl.{end}"));
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Ctl::command(), "acmctl", &mut script);
        let text = String::from_utf8_lossy(&script);
        for word in ["wait-ready", "explain", "flush"] {
            assert!(text.contains(word), "{path:?} does not offer {word}");
        }
        if std::env::var_os("UPDATE_MAN").is_some() {
            fs::write(&path, &script).unwrap();
        }
        let is_so = fs::read(&path).is_ok_and(|text| text == script);
        assert!(is_so, "{path:?} is not of these commands: UPDATE_MAN=1 cargo test -p acm-mio --lib man writes it");
    }
}
