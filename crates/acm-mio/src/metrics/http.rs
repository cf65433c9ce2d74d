//! As much of HTTP as a scraper needs: one GET, one answer, the end.

/// What can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// OpenMetrics text, for programs.
    Metrics,
    /// Text for people. It names users: only on the status socket.
    Status,
}

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Page(Page),
    /// There is no such page.
    NoPage,
    /// Another method than GET.
    NoMethod,
    /// It is no HTTP.
    Malformed,
}

/// What is wanted, once the whole head of the request is there.
pub(super) fn wanted(head: &[u8]) -> Option<Wanted> {
    let ended = head.windows(4).any(|end| end == b"\r\n\r\n") || head.windows(2).any(|end| end == b"\n\n");
    let line = head.split(|byte| *byte == b'\n').next().filter(|_| ended)?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (method, path, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(path), Some(b"HTTP/1.0" | b"HTTP/1.1")) = (method, path, version) else {
        return Some(Wanted::Malformed);
    };
    let path = path.split(|byte| *byte == b'?').next().unwrap_or_default();
    Some(match (method, path) {
        (b"GET", b"/metrics") => Wanted::Page(Page::Metrics),
        (b"GET", b"/status") => Wanted::Page(Page::Status),
        (b"GET", _) => Wanted::NoPage,
        _ => Wanted::NoMethod,
    })
}

/// An answer, head and all.
pub(super) fn answer(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    (head + body).into_bytes()
}

/// The type of a page.
pub(super) const fn kind(page: Page) -> &'static str {
    match page {
        Page::Metrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        Page::Status => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_their_types() {
        assert!(kind(Page::Metrics).starts_with("application/openmetrics-text; version=1.0.0;"));
        assert!(kind(Page::Status).starts_with("text/plain;"));
    }

    #[test]
    fn requests() {
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", Some(Wanted::Page(Page::Metrics))),
            ("GET /metrics?a=b HTTP/1.0\n\n", Some(Wanted::Page(Page::Metrics))),
            ("GET /status HTTP/1.0\r\n\r\n", Some(Wanted::Page(Page::Status))),
            ("GET / HTTP/1.1\r\n\r\n", Some(Wanted::NoPage)),
            ("POST /metrics HTTP/1.1\r\n\r\n", Some(Wanted::NoMethod)),
            ("GET /metrics HTTP/2\r\n\r\n", Some(Wanted::Malformed)),
            ("\n\n", Some(Wanted::Malformed)),
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n", None),
            ("", None),
        ] {
            assert_eq!(wanted(head.as_bytes()), expected, "{head:?}");
        }
    }
}
