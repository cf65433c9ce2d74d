//! `--cache`: lists, explains or removes cache entries of the running daemon.
use super::{
    Filter, Flushed, Page, Parameters,
    entry::Entry,
    table::{self, Table},
};
use crate::metrics::ask;
use core::ops::ControlFlow;
use nix::unistd::User;
use std::{
    collections::BTreeSet,
    io::{ErrorKind, Write},
    path::Path,
};

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

/// Sends a request with a method to the daemon, and returns the response.
type Ask<'a> = &'a dyn Fn(&str, &str) -> Result<String, String>;

/// Runs a command, and writes its output page by page, because 100,000 entries do not fit into small memory. Ends if the
/// reader of a pipe has closed it.
///
/// # Errors
/// The command is wrong, the daemon does not carry it out, there is nothing to explain, or writing failed.
pub(crate) fn run(run_dir: &Path, words: &[String], json: bool, out: &mut dyn Write) -> Result<(), String> {
    run_with(&|method, target| ask(run_dir, method, target), words, json, out)
}

fn run_with(ask: Ask<'_>, words: &[String], json: bool, out: &mut dyn Write) -> Result<(), String> {
    let words = words.iter().map(|word| with_uid(ask, word)).collect::<Result<Vec<_>, _>>()?;
    let mut print = |text: String| match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        Err(error) => Err(format!("standard output: {error}")),
    };
    match parse(&words)? {
        Command::List(parameters) => {
            let mut table = Table::default();
            let flow = each_page(ask, &parameters, &mut |page| {
                print(if json { lines(&page.entries) } else { table.page(&page.entries) })
            })?;
            if flow.is_continue() && !json {
                let _ = print(table.end())?;
            }
        }
        Command::Explain(parameters) => {
            let (mut host, mut is_found) = (None, false);
            let _ = each_page(ask, &parameters, &mut |page| {
                is_found |= !page.entries.is_empty();
                host = page.host;
                print(if json { lines(&page.entries) } else { page.entries.iter().map(table::explanation).collect() })
            })?;
            if !is_found {
                let host = host.map_or(String::new(), |gid| format!(", and the host file has it at GID {gid}"));
                return Err(format!("nothing is cached for it: the next request starts a lookup{host}"));
            }
        }
        Command::Flush(parameters) => {
            let (mut total, mut from) = (0, Some(0));
            while let Some(slot) = from {
                let target = format!("/cache?{}", parameters.clone().with("from", slot).query());
                let page: Flushed = json_of(&ask("DELETE", &target)?)?;
                total += page.flushed;
                from = page.next;
            }
            let text =
                if json { format!("{{\"flushed\":{total}}}") } else { format!("{} removed", table::count(total)) };
            let _ = print(text + "\n")?;
        }
    }
    Ok(())
}

/// Returns a word of the command line with a user's number in place of a name.
///
/// # Errors
/// There is no such user; the text has those of entries.
fn with_uid(ask: Ask<'_>, word: &str) -> Result<String, String> {
    let Some(name) = word.strip_prefix("user=").filter(|name| !Filter::is_user(name)) else {
        return Ok(word.to_owned());
    };
    if let Ok(Some(user)) = User::from_name(name) {
        return Ok(format!("user={}", user.uid));
    }
    let mut users = BTreeSet::new();
    let _ = each_page(ask, &Parameters::default(), &mut |page| {
        users.extend(page.entries.into_iter().filter_map(|entry| entry.path?.last_user));
        Ok(ControlFlow::Continue(()))
    })?;
    let users: Vec<String> = users.into_iter().collect();
    let all = if users.is_empty() { "there is none".to_owned() } else { format!("there are: {}", users.join(", ")) };
    Err(format!("user={name}: no such user; of the users of entries {all}"))
}

/// Requests the pages of the entries that meet the conditions, and passes each to `use_page` before the next request.
fn each_page(
    ask: Ask<'_>,
    parameters: &Parameters,
    use_page: &mut dyn FnMut(Page) -> Result<ControlFlow<()>, String>,
) -> Result<ControlFlow<()>, String> {
    let mut from = Some(0);
    while let Some(slot) = from {
        let target = format!("/cache?{}", parameters.clone().with("from", slot).query());
        let page: Page = json_of(&ask("GET", &target)?)?;
        from = page.next;
        if use_page(page)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
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
    use core::cell::{Cell, RefCell};
    use std::io;

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

    /// Standard output that is closed after a number of pages. Counts the requests before each.
    struct Output<'a> {
        asked: &'a Cell<usize>,
        pages: Vec<usize>,
        room: usize,
    }

    impl Write for Output<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.pages.len() == self.room {
                return Err(ErrorKind::BrokenPipe.into());
            }
            self.pages.push(self.asked.get());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Runs a command with a daemon that has an entry in each of three pages. Returns the number of requests before
    /// each write, and in all.
    fn run_of(words: &[&str], room: usize) -> (Vec<usize>, usize) {
        let asked = Cell::new(0);
        let ask = |_: &str, _: &str| {
            asked.set(asked.get() + 1);
            let next = (asked.get() < 3).then(|| asked.get() * 256);
            let entry = serde_json::json!({
                "id": "4.2", "endpoint": "sim0/1 pkey 0xffff", "dest": "a", "state": "located", "cause": "user",
                "gid": "fe80::7", "address_source": "group", "address_expires_in": null, "failure": null, "path": null,
            });
            Ok(serde_json::json!({ "entries": [entry], "next": next }).to_string())
        };
        let mut out = Output { asked: &asked, pages: Vec::new(), room };
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(run_with(&ask, &words, false, &mut out), Ok(()));
        (out.pages, asked.get())
    }

    #[test]
    fn flush_requests_all_pages_with_its_conditions_and_adds_their_numbers() {
        let asked = RefCell::new(Vec::new());
        let ask = |method: &str, target: &str| {
            asked.borrow_mut().push(format!("{method} {target}"));
            let number = asked.borrow().len();
            let (flushed, next) = [(200, Some(256)), (0, Some(2304)), (34, None)][number - 1];
            Ok(serde_json::json!({ "flushed": flushed, "next": next }).to_string())
        };
        for (json, expected) in [(false, "234 entries removed\n"), (true, "{\"flushed\":234}\n")] {
            let (mut out, words) = (Vec::new(), ["flush", "name=a*"].map(str::to_owned));
            run_with(&ask, &words, json, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
            let words = |request: String| {
                Parameters::of_query(request.strip_prefix("DELETE /cache?").unwrap()).unwrap().words()
            };
            let expected = [0, 256, 2304].map(|from| format!("name=a* from={from}"));
            assert_eq!(asked.take().into_iter().map(words).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn each_page_is_written_before_the_next_request_and_a_closed_pipe_ends_it() {
        assert_eq!(run_of(&["list"], 9), (vec![1, 2, 3, 3], 3));
        assert_eq!(run_of(&["explain", "a"], 9), (vec![1, 2, 3], 3));
        assert_eq!(run_of(&["list"], 1), (vec![1], 2));
        assert_eq!(run_of(&["list"], 0), (vec![], 1));
    }
}
