//! `--cache`: lists, explains or removes cache entries of the running daemon.
use super::{Filter, Flushed, Page, Parameters, entry::Entry, table};
use crate::metrics::ask;
use nix::unistd::User;
use std::{collections::BTreeSet, path::Path};

/// A command of `--cache`.
#[derive(Debug, PartialEq)]
enum Command {
    List(Parameters),
    Explain(Parameters),
    Flush(Parameters),
}

fn parse(words: &[String]) -> Result<Command, String> {
    let (verb, rest) = words.split_first().ok_or("expected list, explain or flush")?;
    match (verb.as_str(), rest) {
        ("list", conditions) => Parameters::of_words(conditions).map(Command::List),
        ("explain", [name]) if !name.contains('=') => Ok(Command::Explain(Parameters::default().with("name", name))),
        ("explain", []) => Err("explain: expected a name, an IP address, a LID or a GID".to_owned()),
        ("explain", conditions) => Parameters::of_words(conditions).map(Command::Explain),
        ("flush", []) => Err("flush: expected conditions such as name=NAME, or the word all".to_owned()),
        ("flush", [all]) if all == "all" => Ok(Command::Flush(Parameters::default())),
        ("flush", conditions) => Parameters::of_words(conditions).map(Command::Flush),
        (other, _) => Err(format!("{other:?}: expected list, explain or flush")),
    }
}

/// Runs a command, and returns its output.
///
/// # Errors
/// The command is wrong, the daemon does not carry it out, or there is nothing to explain.
pub(crate) fn run(run_dir: &Path, words: &[String], json: bool) -> Result<String, String> {
    let words = words.iter().map(|word| with_uid(run_dir, word)).collect::<Result<Vec<_>, _>>()?;
    output(run_dir, parse(&words)?, json)
}

/// Returns a word of the command line with a user's number in place of a name.
///
/// # Errors
/// There is no such user; the text has those of entries.
fn with_uid(run_dir: &Path, word: &str) -> Result<String, String> {
    let Some(name) = word.strip_prefix("user=").filter(|name| !Filter::is_user(name)) else {
        return Ok(word.to_owned());
    };
    match User::from_name(name) {
        Ok(Some(user)) => Ok(format!("user={}", user.uid)),
        _ => {
            let users = entries(run_dir, &Parameters::default())?.into_iter().filter_map(|entry| entry.path?.last_user);
            let users: Vec<String> = users.collect::<BTreeSet<_>>().into_iter().collect();
            let all =
                if users.is_empty() { "there is none".to_owned() } else { format!("there are: {}", users.join(", ")) };
            Err(format!("user={name}: no such user; of the users of entries {all}"))
        }
    }
}

/// Returns the output of a command.
fn output(run_dir: &Path, command: Command, json: bool) -> Result<String, String> {
    match command {
        Command::List(parameters) => {
            let entries = entries(run_dir, &parameters)?;
            Ok(if json { lines(&entries) } else { table::list(&entries) })
        }
        Command::Explain(parameters) => {
            let (entries, host) = entries_and_host(run_dir, &parameters)?;
            if entries.is_empty() {
                let host = host.map_or(String::new(), |gid| format!(", and the host file has it at GID {gid}"));
                return Err(format!("nothing is cached for it: the next request starts a lookup{host}"));
            }
            Ok(if json { lines(&entries) } else { entries.iter().map(table::explanation).collect() })
        }
        Command::Flush(parameters) => {
            let (mut total, mut from) = (0, Some(0));
            while let Some(slot) = from {
                let target = format!("/cache?{}", parameters.clone().with("from", slot).query());
                let page: Flushed = json_of(&ask(run_dir, "DELETE", &target)?)?;
                total += page.flushed;
                from = page.next;
            }
            Ok(if json { format!("{{\"flushed\":{total}}}\n") } else { format!("{} removed\n", table::count(total)) })
        }
    }
}

/// Requests all pages of the entries that meet the conditions.
fn entries(run_dir: &Path, parameters: &Parameters) -> Result<Vec<Entry>, String> {
    entries_and_host(run_dir, parameters).map(|(entries, _)| entries)
}

/// Requests all pages of the entries that meet the conditions, and the GID of the requested address in the host file.
fn entries_and_host(run_dir: &Path, parameters: &Parameters) -> Result<(Vec<Entry>, Option<String>), String> {
    let (mut entries, mut host, mut from) = (Vec::new(), None, Some(0));
    while let Some(slot) = from {
        let target = format!("/cache?{}", parameters.clone().with("from", slot).query());
        let page: Page = json_of(&ask(run_dir, "GET", &target)?)?;
        entries.extend(page.entries);
        (host, from) = (page.host, page.next);
    }
    Ok((entries, host))
}

fn json_of<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("the daemon is of another version: {error}"))
}

/// Returns a line of JSON for each entry.
fn lines(entries: &[Entry]) -> String {
    entries.iter().filter_map(|entry| serde_json::to_string(entry).ok()).map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_list_explain_and_flush() {
        let of = |text: &str| parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let name = |name: &str| Parameters::default().with("name", name);
        assert_eq!(of("list"), Ok(Command::List(Parameters::default())));
        assert_eq!(of("list name=a"), Ok(Command::List(name("a"))));
        assert_eq!(of("explain fe80::1"), Ok(Command::Explain(name("fe80::1"))));
        assert_eq!(of("explain name=a*"), Ok(Command::Explain(name("a*"))));
        assert_eq!(of("flush all"), Ok(Command::Flush(Parameters::default())));
        assert_eq!(of("flush name=a"), Ok(Command::Flush(name("a"))));
        for bad in ["", "lst", "flush", "explain", "explain a b", "list a", "flush all name=a"] {
            assert!(of(bad).unwrap_err().contains("expected"), "{bad}");
        }
        assert!(parse(&[]).is_err());
    }
}
