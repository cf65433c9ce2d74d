//! Which file of a crate imports what of which other file, read from its tokens.
use super::source::{is_for_tests, is_root, sources, tokens};
use crate::error::TaskError;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// Names from the crate's root on: `["server", "daemon"]`.
type ModulePath = Vec<String>;

/// The modules of one crate: a library or a program.
#[derive(Debug, Default)]
pub(super) struct Modules(BTreeMap<ModulePath, Module>);

#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    imports: Vec<Import>,
    /// Paths in the code beside the imports, as they are written.
    mentions: Vec<Vec<String>>,
    /// Every word of the code beside the imports.
    words: BTreeSet<String>,
    /// Modules in it that only tests have.
    test_modules: BTreeSet<String>,
}

/// One name of a `use`.
#[derive(Debug)]
struct Import {
    /// As it is written.
    path: Vec<String>,
    /// What it is called here; `None` for `*`.
    name: Option<String>,
    /// Whether others may import it from here.
    public: bool,
}

impl Modules {
    /// Reads the crate whose root is `root`. Its modules are the files in the root's folder, without those in `bin`.
    pub(super) fn read(root: &Path) -> Result<Self, TaskError> {
        let mut modules = Self::default();
        let folder = root.parent().unwrap_or(root);
        for file in sources(folder)? {
            let inner = file.strip_prefix(folder).unwrap_or(&file);
            let is_other_root = inner.parent() == Some(Path::new("")) && file != root && is_root(&file);
            if !is_other_root && !inner.starts_with("bin") {
                let path = if file == root { Vec::new() } else { module_path(inner) };
                modules.scan(path, &file, tokens(&file)?);
            }
        }
        modules.leave_out_tests();
        Ok(modules)
    }

    fn scan(&mut self, path: ModulePath, file: &Path, tokens: TokenStream) {
        let mut scan = Scan { module: Module { file: file.into(), ..Module::default() }, inner: Vec::new() };
        scan.stream(tokens);
        for (name, group) in scan.inner {
            self.scan(joined(&path, &name), file, group.stream());
        }
        self.0.insert(path, scan.module);
    }

    fn leave_out_tests(&mut self) {
        let tests: Vec<ModulePath> = self
            .0
            .iter()
            .flat_map(|(path, module)| module.test_modules.iter().map(|name| joined(path, name)))
            .collect();
        self.0.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
    }

    /// From each file to the files that it needs something of. A re-export needs nothing: who imports it needs the file
    /// that it is from.
    pub(super) fn edges(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let mut edges: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for (at, module) in &self.0 {
            let used = |import: &&Import| {
                !import.public || import.name.as_ref().is_some_and(|name| module.words.contains(name))
            };
            let imported = module.imports.iter().filter(used).map(|import| &import.path);
            for path in imported.chain(&module.mentions) {
                let to = self.absolute(at, path).and_then(|path| self.file_of(&path, 0));
                if let Some(to) = to.filter(|to| *to != module.file) {
                    edges.entry(&module.file).or_default().insert(to);
                }
            }
        }
        edges
    }

    /// A path that is written in the module `at`, from the root on; `None` if it leads out of the crate.
    fn absolute(&self, at: &[String], path: &[String]) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Vec::new(),
            "self" => at.to_vec(),
            "super" => {
                let parent = at.split_last()?.1;
                return match rest.first() {
                    Some(next) if next == "super" => self.absolute(parent, rest),
                    _ => Some([parent, rest].concat()),
                };
            }
            name if self.0.contains_key(&joined(at, name)) => joined(at, name),
            _ => return None,
        };
        Some([start.as_slice(), rest].concat())
    }

    /// The file that has what the path names, through any re-exports; `None` if that is not in the crate.
    fn file_of(&self, path: &[String], depth: usize) -> Option<&Path> {
        const DEEPEST: usize = 16;
        let module_length =
            (0..=path.len()).rev().find(|length| path.get(..*length).is_some_and(|path| self.0.contains_key(path)))?;
        let (at, rest) = path.split_at(module_length);
        let module = self.0.get(at)?;
        let Some((name, rest)) = rest.split_first() else { return Some(&module.file) };
        match module.imports.iter().find(|import| import.name.as_ref() == Some(name)) {
            Some(import) if depth < DEEPEST => {
                let target = self.absolute(at, &import.path)?;
                self.file_of(&[target.as_slice(), rest].concat(), depth + 1)
            }
            _ => Some(&module.file),
        }
    }
}

fn joined(path: &[String], name: &str) -> ModulePath {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module_path(inner: &Path) -> ModulePath {
    let mut path: ModulePath =
        inner.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|name| name == "mod") {
        path.pop();
    }
    path
}

/// Reads one module.
struct Scan {
    module: Module,
    /// Modules that are written out in it.
    inner: Vec<(String, Group)>,
}

impl Scan {
    fn stream(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = tokens.as_slice();
        let mut public = false;
        while let [token, after @ ..] = rest {
            rest = after;
            match (token, after) {
                (TokenTree::Punct(hash), [TokenTree::Group(attribute), item @ ..]) if hash.as_char() == '#' => {
                    rest = if is_for_tests(attribute) { self.skip_item(item) } else { item };
                }
                // The path of another crate's macro, or our own macro's as others see it.
                (TokenTree::Punct(dollar), [_, after @ ..]) if dollar.as_char() == '$' => rest = after,
                (TokenTree::Ident(word), [TokenTree::Group(scope), after @ ..])
                    if word == "pub" && scope.delimiter() == Delimiter::Parenthesis =>
                {
                    (public, rest) = (true, after);
                    continue;
                }
                (TokenTree::Ident(word), _) if word == "pub" => {
                    public = true;
                    continue;
                }
                (TokenTree::Ident(word), [TokenTree::Ident(_) | TokenTree::Group(_), ..]) if word == "use" => {
                    let end = after.iter().position(is_semicolon).unwrap_or(after.len());
                    let (tree, after) = after.split_at(end);
                    self.import(tree, &[], public);
                    rest = after;
                }
                (TokenTree::Ident(word), [TokenTree::Ident(name), TokenTree::Group(group), after @ ..])
                    if word == "mod" =>
                {
                    self.inner.push((name.to_string(), group.clone()));
                    rest = after;
                }
                // It may have the name of a function that is re-exported from it.
                (TokenTree::Ident(word), [TokenTree::Ident(_), end, after @ ..])
                    if word == "mod" && is_semicolon(end) =>
                {
                    rest = after;
                }
                (
                    TokenTree::Ident(word),
                    [TokenTree::Punct(_), TokenTree::Ident(_), TokenTree::Group(_), after @ ..],
                ) if word == "macro_rules" => {
                    rest = after;
                }
                (TokenTree::Ident(word), _) => {
                    let (path, after) = path(word.to_string(), after);
                    self.module.words.extend(path.iter().cloned());
                    if path.len() > 1 {
                        self.module.mentions.push(path);
                    }
                    rest = after;
                }
                (TokenTree::Group(group), _) => self.stream(group.stream()),
                _ => {}
            }
            public = false;
        }
    }

    /// What follows the item; a module that is the item is remembered.
    fn skip_item<'a>(&mut self, item: &'a [TokenTree]) -> &'a [TokenTree] {
        let mut needs_semicolon = false;
        for (index, token) in item.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "mod" => {
                    if let Some(TokenTree::Ident(name)) = item.get(index + 1) {
                        self.module.test_modules.insert(name.to_string());
                    }
                }
                TokenTree::Ident(word) if word == "use" || word == "const" || word == "static" => {
                    needs_semicolon = !matches!(item.get(index + 1), Some(TokenTree::Ident(word)) if word == "fn");
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !needs_semicolon => {
                    return item.get(index + 1..).unwrap_or_default();
                }
                token if is_semicolon(token) => return item.get(index + 1..).unwrap_or_default(),
                _ => {}
            }
        }
        &[]
    }

    /// The names of a use tree below `prefix`.
    fn import(&mut self, tree: &[TokenTree], prefix: &[String], public: bool) {
        for branch in tree.split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',')) {
            let mut path = prefix.to_vec();
            let mut renamed = None;
            let mut tokens = branch.iter();
            // Behind a last comma there is nothing.
            let mut done = branch.is_empty();
            while let Some(token) = tokens.next() {
                match token {
                    TokenTree::Ident(word) if word == "as" => renamed = tokens.next().map(ToString::to_string),
                    // `a::{self}` is `a`.
                    TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                    TokenTree::Ident(word) => path.push(word.to_string()),
                    TokenTree::Group(group) => {
                        let inner: Vec<_> = group.stream().into_iter().collect();
                        self.import(&inner, &path, public);
                        done = true;
                    }
                    TokenTree::Punct(star) if star.as_char() == '*' => {
                        self.module.imports.push(Import { path: path.clone(), name: None, public });
                        done = true;
                    }
                    _ => {}
                }
            }
            if !done && let Some(last) = path.last() {
                let name = Some(renamed.unwrap_or_else(|| last.clone()));
                self.module.imports.push(Import { path, name, public });
            }
        }
    }
}

/// The path that begins with a word, and what follows it.
fn path(word: String, mut rest: &[TokenTree]) -> (Vec<String>, &[TokenTree]) {
    let mut path = vec![word];
    while let [TokenTree::Punct(one), TokenTree::Punct(two), TokenTree::Ident(next), after @ ..] = rest
        && (one.as_char(), two.as_char()) == (':', ':')
    {
        path.push(next.to_string());
        rest = after;
    }
    (path, rest)
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
}
