//! `config`: the options in force in the running daemon, and where their values come from.
use super::{
    ask::{Ask, json_of},
    columns,
};
use crate::{
    control::{Configuration, InForce, Origin},
    output::{Failure, Outcome, Output, note},
};

/// Prints the options; with `changed`, only those whose value is not by default, or that wait for a restart.
///
/// # Errors
/// No daemon answers, or writing failed.
pub(super) fn run(ask: Ask<'_>, changed: bool, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    let mut found: Configuration = json_of(&ask("GET", "/config")?)?;
    if changed {
        found.options.retain(|option| option.origin != Origin::Default || option.after_restart.is_some());
    }
    if output.json {
        output.object(&found)?;
    } else {
        output.write(&table(&found))?;
        footers(&found).iter().for_each(|line| note(line));
    }
    Ok(Outcome::Good)
}

/// Returns a line for each option. The value is last, because it may have blanks.
fn table(found: &Configuration) -> String {
    let file = found.option_file.display();
    let origin = |option: &InForce| match (option.origin, option.line) {
        (Origin::File, Some(line)) => format!("{file}:{line}"),
        (Origin::File, None) => file.to_string(),
        (Origin::FileAtStart, _) => "file-at-start".to_owned(),
        (Origin::Systemd, _) => "--systemd".to_owned(),
        (Origin::Default, _) => "default".to_owned(),
    };
    let rows = found.options.iter().map(|option| [option.name.clone(), origin(option), option.value.clone()]);
    columns::table(["OPTION", "FROM", "VALUE"], rows)
}

/// Returns a line for each option that waits for a restart, each line that does nothing, and each remark.
fn footers(found: &Configuration) -> Vec<String> {
    let waits = found.options.iter().filter_map(|InForce { name, value, after_restart, .. }| {
        let new = after_restart.as_ref()?;
        Some(format!("{name}: needs a restart; {value} goes on, not {new}"))
    });
    let unused = found.options.iter().filter(|option| option.origin != Origin::Default).filter_map(|option| {
        let why = option.unused.as_ref()?;
        Some(format!("{}: does nothing: {why}", option.name))
    });
    let remarks = found.remarks.iter().map(|remark| format!("{}: {}", remark.what, remark.advice));
    waits.chain(unused).chain(remarks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Remark;

    fn option(name: &str, origin: Origin, line: Option<u32>, after_restart: Option<&str>) -> InForce {
        let (name, after_restart) = (name.to_owned(), after_restart.map(str::to_owned));
        let unused = (name == "addr_prot").then(|| "it has one value".to_owned());
        InForce { name, value: "1".to_owned(), origin, line, after_restart, unused }
    }

    fn found() -> Configuration {
        Configuration {
            option_file: "/opts".into(),
            address_file: "/addr".into(),
            options: vec![
                option("retries", Origin::File, Some(12), None),
                option("timeout", Origin::Default, None, None),
                option("groups", Origin::Default, None, Some("2")),
                option("addr_prot", Origin::File, Some(2), None),
            ],
            remarks: vec![Remark { what: "/opts: sa_depth 1".to_owned(), advice: "remove it".to_owned() }],
        }
    }

    fn printed(changed: bool, as_json: bool) -> String {
        let ask = |method: &str, target: &str| {
            assert_eq!((method, target), ("GET", "/config"));
            Ok(serde_json::to_string(&found()).unwrap())
        };
        let mut text = Vec::new();
        assert_eq!(run(&ask, changed, &mut Output::new(&mut text, as_json)), Ok(Outcome::Good));
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn table_has_the_line_of_each_option() {
        let lines = ["OPTION     FROM      VALUE\n", "retries    /opts:12  1\n", "timeout    default   1\n"];
        assert!(printed(false, false).starts_with(&lines.concat()), "{}", printed(false, false));
        let changed = printed(true, false);
        assert!(
            !changed.contains("timeout") && changed.contains("groups") && changed.lines().count() == 4,
            "{changed}"
        );
    }

    #[test]
    fn json_has_what_the_daemon_says() {
        let object: serde_json::Value = serde_json::from_str(&printed(false, true)).unwrap();
        assert_eq!((&object["schema"], &object["options"][0]["origin"]), (&1.into(), &"file".into()));
        assert_eq!(object["options"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn footers_name_what_waits_what_does_nothing_and_what_costs() {
        let expected = [
            "groups: needs a restart; 1 goes on, not 2",
            "addr_prot: does nothing: it has one value",
            "/opts: sa_depth 1: remove it",
        ];
        assert_eq!(footers(&found()), expected);
    }
}
