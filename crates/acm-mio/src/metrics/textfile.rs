//! `--metrics`: writes the metrics of the running daemon into a file for node_exporter's textfile collector.
use super::query::ask;
use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Writes the metrics into a new file, which replaces `file`. Without a daemon, removes `file`, so that no old numbers
/// are read.
///
/// # Errors
/// No daemon responded, or the file cannot be replaced.
pub(crate) fn run(run_dir: &Path, file: &Path) -> Result<(), String> {
    let text = ask(run_dir, "GET", "/metrics");
    let result = text.and_then(|text| {
        replace(file, prometheus_text(&text).as_bytes()).map_err(|error| format!("{}: {error}", file.display()))
    });
    result.inspect_err(|_| {
        let _ = fs::remove_file(file);
    })
}

/// Replaces a file by one with this content. Readers see the old or the new file, never a part of one.
fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    // Another user may write to the directory. A link that this user has made is removed, and never followed.
    match fs::remove_file(&name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut new = OpenOptions::new().write(true).create_new(true).open(&name)?;
    new.write_all(content)?;
    fs::rename(&name, file)
}

/// Converts OpenMetrics text to the text format of Prometheus, which node_exporter reads. There the name of a counter
/// has the suffix `_total` in all lines, and there is no end mark.
fn prometheus_text(text: &str) -> String {
    let counters: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")).collect();
    let mut converted = String::with_capacity(text.len());
    for line in text.lines().filter(|line| *line != "# EOF") {
        let mut words = line.splitn(4, ' ');
        let head = (words.next(), words.next(), words.next(), words.next());
        if let (Some("#"), Some(what), Some(name), Some(rest)) = head
            && counters.contains(name)
        {
            converted += &format!("# {what} {name}_total {rest}\n");
        } else {
            converted += line;
            converted.push('\n');
        }
    }
    converted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn counter_has_its_suffix_in_all_lines() {
        let text = "# HELP acm_a a b # c\n# TYPE acm_a counter\nacm_a_total{x=\"1\"} 3\n\
                    # HELP acm_b b\n# TYPE acm_b gauge\nacm_b{} 4\n# EOF\n";
        let expected = "# HELP acm_a_total a b # c\n# TYPE acm_a_total counter\nacm_a_total{x=\"1\"} 3\n\
                        # HELP acm_b b\n# TYPE acm_b gauge\nacm_b{} 4\n";
        assert_eq!(prometheus_text(text), expected);
    }

    #[test]
    fn file_is_replaced_and_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [file, new, other] = ["m.prom", "m.prom.new", "other"].map(|name| folder.path().join(name));
        fs::write(&file, "old").unwrap();
        fs::write(&other, "precious").unwrap();
        symlink(&other, &new).unwrap();
        replace(&file, b"numbers").unwrap();
        assert_eq!([&file, &other].map(|path| fs::read_to_string(path).unwrap()), ["numbers", "precious"]);
        assert!(!new.exists());
        assert!(run(folder.path(), &file).is_err());
        assert!(!file.exists(), "no daemon, no numbers");
    }
}
