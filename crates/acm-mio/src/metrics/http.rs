//! The part of HTTP that scrapers and administrators need: one request, one response, then the end of the connection.

use core::net::IpAddr;

/// A page that can be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// OpenMetrics text, for scrapers.
    Metrics,
    /// Text for administrators. Served only on the status socket, because it contains the names of users.
    Status,
    /// The numbers of [`Page::Metrics`] as JSON, for administrators.
    Numbers,
}

/// Method and path of each [`Command`]. Those of the method `GET` only look.
pub(crate) const COMMANDS: [(&str, &str); 11] = [
    ("GET", "/config"),
    ("GET", "/log-level"),
    ("POST", "/log-level"),
    ("DELETE", "/log-level"),
    ("GET", "/cache"),
    ("DELETE", "/cache"),
    ("GET", "/reload"),
    ("POST", "/reload"),
    ("GET", "/recording"),
    ("POST", "/recording"),
    ("DELETE", "/recording"),
];

/// A request that the daemon answers. Accepted only on the status socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// The method: `GET`, `POST` or `DELETE`.
    pub(crate) method: String,
    /// The path, without the query.
    pub(crate) path: String,
    /// The query: the text after `?`.
    pub(crate) query: String,
}

/// The response to a [`Command`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// JSON.
    Done(String),
    /// The request is invalid, for this reason.
    Invalid(String),
    /// The user may not do this.
    Forbidden(String),
    /// It failed, for this reason.
    Failed(String),
}

impl Response {
    /// Returns the response with its head.
    pub(super) fn bytes(&self) -> Vec<u8> {
        const TEXT: &str = "text/plain; charset=utf-8";
        match self {
            Self::Done(json) => response("200 OK", "application/json", json),
            Self::Invalid(reason) => response("400 Bad Request", TEXT, reason),
            Self::Forbidden(reason) => response("403 Forbidden", TEXT, reason),
            Self::Failed(reason) => response("409 Conflict", TEXT, reason),
        }
    }
}

/// A parsed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Page(Page),
    /// The page with a link to the metrics.
    Start,
    Command(Command),
    /// GET of a page that does not exist.
    UnknownPage,
    /// A method that the path does not have.
    OtherMethod,
    /// A request in a version other than HTTP/1.0 and HTTP/1.1.
    Malformed,
}

/// Parses the head of a request; `None` until it is complete.
pub(super) fn parse(head: &[u8]) -> Option<Request> {
    let ended = head.windows(4).any(|end| end == b"\r\n\r\n") || head.windows(2).any(|end| end == b"\n\n");
    let line = head.split(|byte| *byte == b'\n').next().filter(|_| ended)?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (method, path, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(path), Some(b"HTTP/1.0" | b"HTTP/1.1")) = (method, path, version) else {
        return Some(Request::Malformed);
    };
    let target = String::from_utf8_lossy(path);
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let method = String::from_utf8_lossy(method);
    Some(match (&*method, path) {
        ("GET", "/") => Request::Start,
        ("GET", "/metrics") => Request::Page(Page::Metrics),
        ("GET", "/status") => Request::Page(Page::Status),
        ("GET", "/status.json") => Request::Page(Page::Numbers),
        known if COMMANDS.contains(&known) => {
            Request::Command(Command { method: method.to_string(), path: path.to_owned(), query: query.to_owned() })
        }
        ("GET", _) => Request::UnknownPage,
        _ => Request::OtherMethod,
    })
}

/// Reports whether the head names this machine as its host, by an address or as `localhost`, or has no host. A browser
/// sends the name of the page's site, also if somebody lets that name lead to this machine.
pub(super) fn is_for_this_machine(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').skip(1);
    let host = lines.find_map(|line| {
        let (name, value) = line.split_at_checked(b"host:".len())?;
        name.eq_ignore_ascii_case(b"host:").then(|| String::from_utf8_lossy(value.trim_ascii()).into_owned())
    });
    host.is_none_or(|host| {
        let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let name = name.map_or(host.as_str(), |(name, _)| name);
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
    })
}

/// Returns a response with its head.
pub(super) fn response(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    (head + body).into_bytes()
}

/// Returns the response that refuses a request.
pub(super) fn refusal(status: &str) -> Vec<u8> {
    response(status, "text/plain; charset=utf-8", "GET /metrics\n")
}

/// Returns the page with a link to the metrics, for a browser.
pub(super) fn start_page() -> Vec<u8> {
    let text = concat!("<p>acm-mio ", env!("CARGO_PKG_VERSION"), ": <a href=\"/metrics\">metrics</a></p>\n");
    response("200 OK", "text/html; charset=utf-8", text)
}

/// Returns the content type of a page.
pub(super) const fn kind(page: Page) -> &'static str {
    match page {
        Page::Metrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        Page::Status => "text/plain; charset=utf-8",
        Page::Numbers => "application/json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_their_content_types() {
        assert!(kind(Page::Metrics).starts_with("application/openmetrics-text; version=1.0.0;"));
        assert!(kind(Page::Status).starts_with("text/plain;"));
    }

    #[test]
    fn each_command_is_parsed_with_its_query() {
        for (method, path) in COMMANDS {
            assert_eq!(
                parse(format!("{method} {path}?a=b HTTP/1.1\n\n").as_bytes()),
                Some(command(method, path, "a=b"))
            );
        }
    }

    fn command(method: &str, path: &str, query: &str) -> Request {
        Request::Command(Command { method: method.into(), path: path.into(), query: query.into() })
    }

    #[test]
    fn host_is_an_address_or_localhost() {
        let is_ours = |host: &str| is_for_this_machine(format!("GET /metrics HTTP/1.1\r\n{host}\r\n\r\n").as_bytes());
        for host in [
            "",
            "Host: localhost",
            "host:LOCALHOST:9100",
            "Host: 127.0.0.1:9",
            "HOST: [::1]:9",
            "Host: [::1]",
            "A: evil",
        ] {
            assert!(is_ours(host), "{host}");
        }
        for host in ["Host: evil.example", "Host: evil.example:9100", "A: b\r\nHost: localhost.evil", "Host:"] {
            assert!(!is_ours(host), "{host}");
        }
    }

    #[test]
    fn heads_are_parsed_once_they_are_complete() {
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", Some(Request::Page(Page::Metrics))),
            ("GET /metrics?a=b HTTP/1.0\n\n", Some(Request::Page(Page::Metrics))),
            ("GET /status HTTP/1.0\r\n\r\n", Some(Request::Page(Page::Status))),
            ("GET /status.json HTTP/1.0\r\n\r\n", Some(Request::Page(Page::Numbers))),
            ("GET / HTTP/1.1\r\n\r\n", Some(Request::Start)),
            ("GET /none HTTP/1.1\r\n\r\n", Some(Request::UnknownPage)),
            ("GET /cache?a=b?c HTTP/1.1\r\n\r\n", Some(command("GET", "/cache", "a=b?c"))),
            ("DELETE /cache HTTP/1.1\r\n\r\n", Some(command("DELETE", "/cache", ""))),
            ("DELETE /recording HTTP/1.1\r\n\r\n", Some(command("DELETE", "/recording", ""))),
            ("POST /reload HTTP/1.1\r\n\r\n", Some(command("POST", "/reload", ""))),
            ("DELETE /reload HTTP/1.1\r\n\r\n", Some(Request::OtherMethod)),
            ("POST /cache HTTP/1.1\r\n\r\n", Some(Request::OtherMethod)),
            ("POST /metrics HTTP/1.1\r\n\r\n", Some(Request::OtherMethod)),
            ("GET /metrics HTTP/2\r\n\r\n", Some(Request::Malformed)),
            ("\n\n", Some(Request::Malformed)),
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n", None),
            ("", None),
        ] {
            assert_eq!(parse(head.as_bytes()), expected, "{head:?}");
        }
    }
}
