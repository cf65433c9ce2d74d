//! Parameters of a request: `key=value` words on the command line, `key=value&key=value` in the request.
use core::fmt::Write;

/// The parameters of a request, each with its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Parses words of the command line.
    ///
    /// # Errors
    /// The first word without `=`.
    pub(crate) fn of_words(words: &[String]) -> Result<Self, String> {
        let pair = |word: &String| {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("{word:?}: expected key=value"))?;
            Ok((key.to_owned(), value.to_owned()))
        };
        words.iter().map(pair).collect::<Result<_, String>>().map(Self)
    }

    /// Parses the query of a request.
    ///
    /// # Errors
    /// The first part without `=`, or with bytes that are not UTF-8.
    pub(crate) fn of_query(query: &str) -> Result<Self, String> {
        let parts = query.split('&').filter(|part| !part.is_empty());
        let words: Vec<String> = parts.map(decoded).collect::<Option<_>>().ok_or("malformed text after %")?;
        Self::of_words(&words)
    }

    /// Returns the parameters as the query of a request.
    pub(crate) fn query(&self) -> String {
        let parts: Vec<String> = self.0.iter().map(|(key, value)| encoded(&format!("{key}={value}"))).collect();
        parts.join("&")
    }

    /// Returns the parameters as words of the command line, on one line.
    pub(crate) fn words(&self) -> String {
        let words: Vec<String> = self.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        words.join(" ").escape_debug().to_string()
    }

    /// Adds a parameter.
    pub(crate) fn with(mut self, key: &str, value: impl ToString) -> Self {
        self.0.push((key.to_owned(), value.to_string()));
        self
    }

    /// Removes a parameter, and returns its value.
    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        let index = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(index).1)
    }

    /// Returns the first parameter.
    pub(crate) fn first(&self) -> Option<&str> {
        self.0.first().map(|(key, _)| key.as_str())
    }
}

/// Returns the text with all bytes but letters, digits and some signs as `%XX`.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/*:,=".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing into a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn query_keeps_all_values(pairs in proptest::collection::vec(("[a-z]{1,5}", any::<String>()), 0..4)) {
            let parameters = Parameters(pairs);
            let query = parameters.query();
            prop_assert!(query.is_ascii() && !query.contains(' '), "{}", query);
            prop_assert_eq!(Parameters::of_query(&query), Ok(parameters));
        }

        #[test]
        fn any_query_is_read_without_a_panic(query: String) {
            let _ = Parameters::of_query(&query);
        }
    }

    #[test]
    fn words_are_those_of_the_command_line_on_one_line() {
        let parameters = Parameters::default().with("name", "a b").with("older", 5).with("id", "x\ny");
        assert_eq!(parameters.words(), "name=a b older=5 id=x\\ny");
    }

    #[test]
    fn malformed_parameters_are_refused() {
        for bad in ["a", "a=b&c", "a=%4", "a=%zz", "a=%ff"] {
            assert!(Parameters::of_query(bad).is_err(), "{bad}");
        }
        assert_eq!(Parameters::of_words(&["x".to_owned()]).unwrap_err(), "\"x\": expected key=value");
    }
}
