//! Manual pages from the documents of this repository. lowdown writes them.
use crate::{command, error::TaskError};
use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

/// Where readers of an installed page find the documents, which no package contains.
const DOCUMENTS: &str = "https://github.com/acm-rs/acm/blob/main";

/// Manual pages that are not made here.
const OTHER_PAGES: &[(&str, &str)] = &[("acm-mio", "8"), ("acm-ib_acme", "1")];

/// A manual page.
struct Page {
    name: &'static str,
    section: &'static str,
    about: &'static str,
    /// A file with the heading of a section, or with an empty heading for the whole file.
    part: (&'static str, &'static str),
}

const PAGES: &[Page] = &[
    Page { name: "ibacm_opts.cfg", section: "5", about: "options of acm-mio and ibacm", part: ("docs/options.md", "") },
    Page {
        name: "ibacm_addr.cfg",
        section: "5",
        about: "names of a node for acm-mio and ibacm",
        part: ("docs/files.md", "The address file"),
    },
    Page {
        name: "ibacm_hosts.data",
        section: "5",
        about: "addresses of other nodes for acm-mio and ibacm",
        part: ("docs/files.md", "The host file"),
    },
    Page {
        name: "ibacm_route.data",
        section: "5",
        about: "paths of all nodes for acm-mio and ibacm",
        part: ("docs/files.md", "The path dump"),
    },
    Page { name: "acm_prov", section: "7", about: "providers of acm-mio and ibacm", part: ("docs/providers.md", "") },
    Page {
        name: "libibacm",
        section: "3",
        about: "library of clients of acm-mio and ibacm",
        part: ("crates/acm-capi/README.md", ""),
    },
];

/// Returns the page with this name and section, `libibacm.3`.
///
/// # Errors
/// There is no such page, document or section, or lowdown fails.
pub(crate) fn page(file: &'static str) -> Result<Vec<u8>, TaskError> {
    let of_file = |page: &&Page| file == format!("{}.{}", page.name, page.section);
    let page = PAGES.iter().find(of_file).ok_or(TaskError::NoPage(file))?;
    let (text, Page { name, section, .. }) = (text(page)?, page);
    let mut lowdown = Command::new("lowdown");
    // Without emphasis within words, which would take the underscores out of names.
    lowdown.args(["-s", "-tman", "--parse-no-intraemph", "-Msource=acm", "-Mvolume=acm", "-Mdate="]);
    lowdown.args([format!("-Mtitle={name}"), format!("-Msection={section}")]);
    let failed = |source| command::spawn(&Command::new("lowdown"), source);
    let mut process = lowdown.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    // Dropped after the last byte, so that lowdown finds the end.
    let written = process.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
    let output = written.and_then(|()| process.wait_with_output()).map_err(failed)?;
    if !output.status.success() {
        return Err(TaskError::Failed { command: command::line(&lowdown), status: output.status });
    }
    Ok(output.stdout)
}

/// Returns the text of a page, for lowdown.
fn text(page: &Page) -> Result<String, TaskError> {
    let Page { name, about, part: (file, heading), .. } = page;
    let path = command::root().join(file);
    let document = fs::read_to_string(&path).map_err(TaskError::io("reading", &path))?;
    let part = part(&document, heading).ok_or(TaskError::NoSection { path, heading })?;
    let text = with_references(&prepared(&part), file, name);
    Ok(format!("# NAME\n\n{name} - {about}\n\n# DESCRIPTION\n\n{text}{}", see_also(name)))
}

/// Returns the text of a section, or all sections, without the title.
fn part(document: &str, heading: &str) -> Option<String> {
    let document =
        document.split_once("\n").filter(|(title, _)| title.starts_with("# ")).map_or(document, |(_, rest)| rest);
    if heading.is_empty() {
        return Some(document.to_owned());
    }
    let (_, rest) = document.split_once(&format!("\n## {heading}\n"))?;
    let section = rest.split("\n## ").next().unwrap_or(rest);
    Some(format!("## {heading}\n{section}\n"))
}

/// Returns the text for lowdown: sections one level higher, tables as lists, no diagrams, and no comments.
fn prepared(text: &str) -> String {
    let (mut prepared, mut columns, mut is_code) = (String::new(), None::<Vec<&str>>, false);
    let mut is_diagram = false;
    for line in text.lines().filter(|line| !line.starts_with("<!--")) {
        let row = line.strip_prefix("| ").and_then(|row| row.strip_suffix('|'));
        if line == "```mermaid" {
            is_diagram = true;
            prepared += "(The document has a diagram here.)";
        } else if is_diagram {
            is_diagram = line != "```";
            continue;
        } else if line.trim_start().starts_with("```") {
            is_code = !is_code;
            // Without the words for the test of documents.
            prepared += line.split_inclusive("```").next().unwrap_or(line);
        } else if is_code {
            prepared += line;
        } else if let Some(row) = row {
            let cells: Vec<&str> = row.split(" |").map(str::trim).collect();
            match &columns {
                Some(columns) => prepared += &item(columns, &cells),
                None => columns = Some(cells),
            }
        } else if !line.starts_with("|--") {
            columns = None;
            prepared += line.strip_prefix('#').filter(|rest| rest.starts_with('#')).unwrap_or(line);
        }
        prepared.push('\n');
    }
    prepared
}

/// Returns the row of a table as an item of a list: its first cell, its last cell, and the others with their columns.
fn item(columns: &[&str], cells: &[&str]) -> String {
    let Some(((first, rest), columns)) = cells.split_first().zip(columns.get(1..)) else { return String::new() };
    let Some((last, others)) = rest.split_last() else { return String::new() };
    let others = others.iter().zip(columns).filter(|(cell, _)| !cell.is_empty());
    let others: Vec<_> = others.map(|(cell, column)| format!("{column}: {cell}")).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join("; ")) };
    format!("\n{first}\n\n: {last}{others}\n")
}

/// Returns the text with the words of each link in its place. Words that are the name of a document become a reference
/// to the manual page that has it, or the address of the document. `file` is the document of the text.
fn with_references(text: &str, file: &str, page: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("](") {
        let link = before.rsplit_once('[').zip(after.split_once(')'));
        let Some(((before, words), (target, after))) = link else { break };
        kept += before.strip_suffix('!').unwrap_or(before);
        if words.ends_with(".md") {
            let begins_sentence = matches!(kept.trim_end().chars().next_back(), None | Some('.' | ':'));
            kept += &reference(target, file, page, begins_sentence);
        } else {
            kept += words;
        }
        rest = after;
    }
    kept + rest
}

/// Returns what a page has in the place of a document's name.
fn reference(target: &str, file: &str, page: &str, begins_sentence: bool) -> String {
    if target.contains("://") {
        return format!("<{target}>");
    }
    let mut path: Vec<&str> = file.split('/').collect();
    path.pop();
    for word in target.split('/') {
        if word == ".." {
            path.pop();
        } else {
            path.push(word);
        }
    }
    let path = path.join("/");
    let (document, anchor) = path.split_once('#').unwrap_or((&path, ""));
    // Only a page with the whole document, or with the section, has what the reader is sent to.
    let has_it = |(part, heading): &(&str, &str)| {
        *part == document && (heading.is_empty() || heading.to_lowercase().replace(' ', "-") == anchor)
    };
    match PAGES.iter().find(|other| has_it(&other.part)) {
        Some(other) if other.name == page => if begins_sentence { "This page" } else { "this page" }.to_owned(),
        Some(other) => format!("**{}**({})", other.name, other.section),
        None => format!("<{DOCUMENTS}/{path}>"),
    }
}

/// Returns the section with the other pages and the address of the documents.
fn see_also(page: &str) -> String {
    let pages = PAGES.iter().map(|other| (other.name, other.section));
    let mut others: Vec<_> = OTHER_PAGES.iter().copied().chain(pages).filter(|(name, _)| *name != page).collect();
    others.sort_by_key(|(name, section)| (*section, *name));
    let others: Vec<_> = others.iter().map(|(name, section)| format!("**{name}**({section})")).collect();
    format!("\n# SEE ALSO\n\n{}\n\nAll documents: <{DOCUMENTS}/docs/README.md>\n", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_pages_exist() {
        for Page { part: (file, heading), .. } in PAGES {
            let document = fs::read_to_string(command::root().join(file)).unwrap();
            let part = part(&document, heading).unwrap_or_else(|| panic!("{file}: no section {heading}"));
            assert!(part.len() > 500, "{file}: {heading}");
        }
    }

    #[test]
    fn document_becomes_text_without_tables_and_links() {
        let text = "## A\n<!-- c -->\n[b\nc](d.md#e) f\n\n| name | default | about |\n|---|---|---|\n| `x` | 1 | see [y](z) |\n\n```sh not-run=\"\"\n## x\n```\n";
        let expected = "# A\nb\nc f\n\n\n\n\n`x`\n\n: see y (default: 1)\n\n\n```\n## x\n```\n";
        assert_eq!(with_references(&prepared(text), "docs/x.md", "x"), expected);
    }

    #[test]
    fn name_of_document_becomes_page_or_address() {
        let of = |text: &str| with_references(text, "docs/options.md", "ibacm_opts.cfg");
        assert_eq!(
            of("[options.md](options.md#x) has it. See\n[options.md](options.md)."),
            "This page has it. See\nthis page."
        );
        assert_eq!(of("a [options.md](options.md)"), "a this page");
        assert_eq!(of("[providers.md](providers.md#x)"), "**acm_prov**(7)");
        assert_eq!(of("[files.md](files.md#the-path-dump)"), "**ibacm_route.data**(5)");
        let url = "https://github.com/acm-rs/acm/blob/main";
        assert_eq!(of("[SECURITY.md](../SECURITY.md#a)"), format!("<{url}/SECURITY.md#a>"));
        assert_eq!(of("[commands.md](commands.md#x)"), format!("<{url}/docs/commands.md#x>"));
    }

    #[test]
    fn pages_name_no_file_that_is_not_installed_and_refer_to_each_other() {
        for page in PAGES {
            let text = text(page).unwrap();
            let named: Vec<_> = text.split_whitespace().filter(|word| word.contains(".md")).collect();
            assert!(named.iter().all(|word| word.contains(&format!("<{DOCUMENTS}/"))), "{}: {named:?}", page.name);
        }
        assert!(see_also("acm_prov").contains("**ibacm_route.data**(5), **acm-mio**(8)"), "{}", see_also("acm_prov"));
    }

    /// Returns the words with a letter, with their underscores.
    fn words(text: &str) -> Vec<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter(|word| word.contains(|c: char| c.is_ascii_alphabetic())).map(str::to_owned).collect()
    }

    /// Returns the text of a manual page without requests and escapes of troff.
    fn plain(page: &str) -> String {
        let mut plain = String::new();
        for line in page.lines().filter(|line| !line.starts_with('.')) {
            let mut rest = line;
            while let Some((before, escape)) = rest.split_once('\\') {
                plain += before;
                let (length, character) = match escape.as_bytes() {
                    [b'f', b'(', ..] => (4, ""),
                    [b'f', ..] => (2, ""),
                    [b'(', ..] => (3, " "),
                    [b'[', ..] => (escape.find(']').map_or(1, |end| end + 1), " "),
                    [b'e', ..] => (1, "\\"),
                    _ => (1, ""),
                };
                plain += character;
                rest = &escape[length..];
            }
            plain += rest;
            plain.push('\n');
        }
        plain
    }

    #[test]
    fn page_has_the_words_of_its_documents() {
        for described in PAGES {
            let file: &'static str = format!("{}.{}", described.name, described.section).leak();
            let page = String::from_utf8(page(file).unwrap()).unwrap();
            let (page, document) = (words(&plain(&page)), words(&text(described).unwrap()));
            let differs = page.iter().zip(&document).position(|(page, document)| page != document);
            let near = |words: &[String]| differs.map(|at| words[at.saturating_sub(5)..=at].join(" "));
            assert_eq!(near(&page), near(&document), "{file}");
            assert_eq!(page.len(), document.len(), "{file}");
            assert!(!page.contains(&"stateDiagram".to_owned()), "{file}");
        }
    }

    #[test]
    fn diagram_of_a_document_becomes_a_sentence() {
        let diagram = "a\n\n```mermaid\nx --> y\n```\n\nb\n";
        assert_eq!(prepared(diagram), "a\n\n(The document has a diagram here.)\n\nb\n");
    }

    #[test]
    fn part_is_one_section_with_its_heading() {
        let document = "# T\n\na\n\n## B\n\nc\n\n### D\n\n## E\n\nf\n";
        assert_eq!(part(document, "B").as_deref(), Some("## B\n\nc\n\n### D\n\n"));
        assert_eq!(part(document, "").unwrap().lines().nth(1), Some("a"));
        assert_eq!(part(document, "C"), None);
    }
}
