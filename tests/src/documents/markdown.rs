//! The code blocks of a Markdown file.

/// A code block, or a command in a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Line of the fence, from 1.
    pub(super) line: usize,
    /// Kind of the content.
    pub(super) kind: Kind,
    /// True if the commands run in the project's directory.
    pub(super) in_clone: bool,
    /// The reason why the block is not run.
    pub(super) not_run: Option<String>,
    /// The lines of the block, without the indentation of a list.
    pub(super) text: String,
}

/// Content of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Commands with their output.
    Console,
    /// Commands.
    Commands,
    /// Lines of an option file.
    Options,
    /// A program that rustdoc runs.
    Doctest,
    /// Text that is not run.
    Text,
    /// An error, with its description.
    Unknown(String),
}

/// Returns the blocks of a text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let (mut blocks, mut open, mut indent) = (Vec::new(), None::<Block>, "");
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        let fence = line.trim_start().strip_prefix("```");
        match (open.take(), fence) {
            (None, Some(info)) => {
                open = Some(Block::new(number, info));
                indent = line.strip_suffix(line.trim_start()).unwrap_or_default();
            }
            (None, None) => blocks.extend(comment(number, line)),
            (Some(block), Some(_)) => blocks.push(block),
            (Some(mut block), None) => {
                block.text += line.strip_prefix(indent).unwrap_or(line);
                block.text += "\n";
                open = Some(block);
            }
        }
    }
    // A block without an end.
    blocks.extend(open.map(|block| Block { kind: Kind::Unknown("a block without an end".to_owned()), ..block }));
    blocks
}

/// Returns the reason why no block of a page is run, if the page has one.
pub(super) fn page_not_run(text: &str) -> Option<&str> {
    let reason = text.lines().find_map(|line| line.strip_prefix("<!-- not-run: ")?.strip_suffix(" -->"));
    reason.filter(|reason| !reason.is_empty())
}

/// Returns the command in a comment `<!-- run: COMMAND -->`.
fn comment(line: usize, text: &str) -> Option<Block> {
    let command = text.strip_prefix("<!-- run: ")?.strip_suffix(" -->")?;
    Some(Block { text: format!("{command}\n"), ..Block::new(line, "sh") })
}

impl Block {
    fn new(line: usize, info: &str) -> Self {
        let (language, mut rest) = info.split_once(' ').unwrap_or((info, ""));
        let kind = match language {
            "console" => Kind::Console,
            "" | "sh" => Kind::Commands,
            "ibacm_opts.cfg" => Kind::Options,
            "rust" => Kind::Doctest,
            "text" | "mermaid" => Kind::Text,
            other => Kind::Unknown(format!("{other:?} is no kind of block; `text` for what is not run")),
        };
        let mut block = Self { line, kind, in_clone: false, not_run: None, text: String::new() };
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix("in-clone") {
                (block.in_clone, rest) = (true, after);
            } else if let Some((reason, after)) =
                rest.strip_prefix("not-run=\"").and_then(|reason| reason.split_once('"')).filter(|(r, _)| !r.is_empty())
            {
                (block.not_run, rest) = (Some(reason.to_owned()), after);
            } else {
                break;
            }
        }
        if !rest.is_empty() {
            block.kind = Kind::Unknown(format!("{rest:?} is not understood; not-run=\"REASON\" or in-clone"));
        }
        block
    }
}
