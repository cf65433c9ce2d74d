//! `mod.rs` and `lib.rs` are pages that say what is where: they hold no functions (CONTRIBUTING.md, rule 9).
use super::{
    defect::Defect,
    excuses::{FUNCTIONS, covers},
    graph::Crate,
    source::{is_for_tests, place, sources, tokens},
};
use crate::error::TaskError;
use core::iter;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The first function with a body in each such file.
pub(super) fn check(member: &Crate) -> Result<Vec<Defect>, TaskError> {
    let mut defects = Vec::new();
    for file in sources(&member.folder.join("src"))? {
        let is_page = file.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs");
        let is_in_tests = file.components().any(|part| part.as_os_str() == "tests");
        if !is_page || is_in_tests {
            continue;
        }
        let path = place(&file);
        if let Some(line) = first_function(tokens(&file)?)
            && !covers(FUNCTIONS, iter::once(path.as_path()))
        {
            defects.push(Defect::Function { path, line });
        }
    }
    Ok(defects)
}

/// The line of the first function with a body, beside those of tests and macros.
fn first_function(tokens: TokenStream) -> Option<usize> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut function = None;
    let (mut in_macro, mut in_tests) = (false, false);
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "fn" => function = Some(word.span().start().line),
            TokenTree::Ident(word) if word == "macro_rules" => in_macro = true,
            TokenTree::Punct(end) if end.as_char() == ';' => (function, in_tests) = (None, false),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let skip = core::mem::take(&mut in_macro) | core::mem::take(&mut in_tests);
                let found = function.take().or_else(|| first_function(group.stream()));
                if !skip && found.is_some() {
                    return found;
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                let before = index.checked_sub(1).and_then(|before| tokens.get(before));
                let is_attribute = matches!(before, Some(TokenTree::Punct(hash)) if hash.as_char() == '#');
                in_tests |= is_attribute && is_for_tests(group);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_with_a_body() {
        let line = |source: &str| first_function(source.parse().unwrap());
        assert_eq!(line("mod a;\npub(crate) use a::A;\nfn f() {}"), Some(3));
        assert_eq!(line("struct A;\nimpl A {\n    const fn f(&self) -> u8 { 1 }\n}"), Some(3));
        assert_eq!(line("trait T { fn f(&self); }\ntype F = fn(u8) -> u8;\nstatic A: B = B { a: 1 };"), None);
        assert_eq!(line("macro_rules! m { () => { fn f() {} } }\n#[cfg(test)] mod tests { fn f() {} }"), None);
        assert_eq!(line("#[cfg(test)] mod tests;\nfn f() {}"), Some(2));
    }

    #[test]
    fn only_in_pages_and_not_in_tests() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("src/tests");
        std::fs::create_dir_all(&inner).unwrap();
        for name in ["lib.rs", "a.rs", "tests/mod.rs"] {
            std::fs::write(folder.path().join("src").join(name), "fn f() {}").unwrap();
        }
        let member = Crate { folder: folder.path().into(), ..Crate::default() };
        let path = folder.path().join("src/lib.rs");
        assert_eq!(check(&member).unwrap(), [Defect::Function { path, line: 1 }]);
    }
}
