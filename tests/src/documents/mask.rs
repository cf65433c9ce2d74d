//! What is another each time: times, and names of temporary directories.

/// A line in which all that is another each time is the same.
pub(super) fn mask(line: &str) -> String {
    let words: Vec<String> = line.trim_end().split(' ').map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    let digits: String = word.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    if digits.trim_end_matches(':') == "0000-00-00T00:00:00.000" {
        return digits;
    }
    // As mktemp(1) names them.
    let Some((before, after)) = word.split_once("tmp.") else { return word.to_owned() };
    let random = after.chars().take_while(char::is_ascii_alphanumeric).count();
    if random == 10 { format!("{before}tmp.XXXXXXXXXX{}", &after[random..]) } else { word.to_owned() }
}
