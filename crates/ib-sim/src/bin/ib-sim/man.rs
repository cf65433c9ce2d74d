//! The manual page `dist/ib-sim.1`: the text of `--help` of the program and its commands; and completions for shells.
//! Both are files in the repository, so that the program does not depend on their generators.
use crate::Arguments;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use ib_sim::{Settings, server::HELP};
use std::{fs, path::Path};

const REST: &str = r#".SH SEE ALSO
.BR acm\-mio (8),
.BR acm\-replay (1)
"#;

fn page() -> String {
    let mut command = Arguments::command();
    command.build();
    let mut text = Vec::new();
    let man = Man::new(command.clone()).section("1").date("").manual("acm");
    man.render_title(&mut text).unwrap();
    man.render_name_section(&mut text).unwrap();
    man.render_synopsis_section(&mut text).unwrap();
    man.render_description_section(&mut text).unwrap();
    man.render_options_section(&mut text).unwrap();
    let mut text = String::from_utf8(text).unwrap();
    let is_shown = |command: &&mut clap::Command| !command.is_hide_set() && command.get_name() != "help";
    for command in command.get_subcommands_mut().filter(is_shown) {
        let usage = command.render_usage().to_string().replace("Usage: ", "").replace('-', "\\-");
        let mut section = Vec::new();
        let man = Man::new(command.clone());
        man.render_description_section(&mut section).unwrap();
        man.render_options_section(&mut section).unwrap();
        let section = String::from_utf8(section).unwrap().replace(".SH DESCRIPTION\n", "").replace(".SH OPTIONS\n", "");
        text += &format!(".SH COMMAND {}\n\\fB{usage}\\fR\n.PP\n{section}", command.get_name().to_uppercase());
    }
    let settings: String = Settings::default().iter().map(|(name, value)| format!("{name} {value}\n")).collect();
    for (title, about, lines) in [
        ("COMMANDS OF CTL", "What a running server does for ib-sim ctl:", HELP),
        ("SETTINGS", "Names of the command set of ctl, and of --set, with their defaults:", &settings),
    ] {
        let [about, lines] = [about, lines].map(|text| text.replace('-', "\\-"));
        text += &format!(".SH {title}\n{about}\n.PP\n.nf\n{lines}.fi\n");
    }
    text + REST
}

#[test]
fn manual_page_is_that_of_the_options() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/ib-sim.1");
    if std::env::var_os("UPDATE_MAN").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let is_so = fs::read_to_string(&path).is_ok_and(|text| text == page());
    assert!(is_so, "dist/ib-sim.1 is not of these options: UPDATE_MAN=1 cargo test -p ib-sim --bins writes it");
}

#[test]
fn completions_are_those_of_the_options() {
    for (shell, end) in [(Shell::Bash, "bash"), (Shell::Fish, "fish"), (Shell::Zsh, "zsh")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("dist/completions/ib-sim.{end}"));
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "ib-sim", &mut script);
        let text = String::from_utf8_lossy(&script);
        for word in ["serve", "ctl", "ports"] {
            assert!(text.contains(word), "{path:?} does not offer {word}");
        }
        if std::env::var_os("UPDATE_MAN").is_some() {
            fs::write(&path, &script).unwrap();
        }
        let is_so = fs::read(&path).is_ok_and(|text| text == script);
        assert!(is_so, "{path:?} is not of these options: UPDATE_MAN=1 cargo test -p ib-sim --bins writes it");
    }
}
