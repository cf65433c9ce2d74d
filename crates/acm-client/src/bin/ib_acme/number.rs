//! Parses numbers like C's `atoi`, because scripts depend on its results for malformed numbers.

/// Parses blanks, a sign and digits. The rest is ignored. Without digits the result is 0.
pub(crate) fn atoi(text: &str) -> i32 {
    let text = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let add = |number: i64, digit: u32| {
        let digit = i64::from(digit);
        let number = number.saturating_mul(10);
        if negative { number.saturating_sub(digit) } else { number.saturating_add(digit) }
    };
    let number = digits.chars().map_while(|digit| digit.to_digit(10)).fold(0, add);
    let [a, b, c, d, ..] = number.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::atoi;

    #[test]
    fn numbers_are_parsed_as_by_atoi() {
        for (text, number) in [
            ("7", 7),
            (" \t+12x", 12),
            ("-3", -3),
            ("007", 7),
            ("x", 0),
            ("", 0),
            ("- 3", 0),
            ("4294967297", 1),
            ("99999999999999999999", -1),
            ("-99999999999999999999", 0),
        ] {
            assert_eq!(atoi(text), number, "{text:?}");
        }
    }
}
