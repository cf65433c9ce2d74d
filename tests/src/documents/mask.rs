//! Masks for output that differs between runs: times, and names of temporary directories.

/// Returns the line with masked times and temporary names.
pub(super) fn mask(line: &str) -> String {
    let words: Vec<String> = line.trim_end().split(' ').map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    let digits: String = word.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    let time = digits.trim_end_matches(':');
    if ["", "+00:00", "-00:00"].iter().any(|zone| time.strip_suffix(zone) == Some("0000-00-00T00:00:00.000")) {
        return "0000-00-00T00:00:00.000:".to_owned();
    }
    // A name made by mktemp(1).
    let Some((before, after)) = word.split_once("tmp.") else { return word.to_owned() };
    let random = after.chars().take_while(char::is_ascii_alphanumeric).count();
    if random == 10 { format!("{before}tmp.XXXXXXXXXX{}", &after[random..]) } else { word.to_owned() }
}
