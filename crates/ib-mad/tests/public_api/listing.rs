//! The public items of a crate as its sources have them.
//!
//! An item has the shortest path by which a user reaches it. What the crate's macros are called with is listed entry by
//! entry, what they make by their definitions, so that both kinds of changes show.
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};
use syn::{Attribute, ImplItem, Item, TraitItem, Type, UseTree, Visibility};

#[derive(Default)]
struct Crate {
    /// Item and what it is.
    lines: Vec<(Vec<String>, String)>,
    /// Public name and what it names.
    exports: Vec<(Vec<String>, Vec<String>)>,
    private: BTreeSet<Vec<String>>,
}

fn has(attributes: &[Attribute], what: &str) -> bool {
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string().replace(' ', "").contains(what))
}

fn public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn joined(module: &[String], name: impl ToString) -> Vec<String> {
    module.iter().cloned().chain([name.to_string()]).collect()
}

/// Tokens as one writes them, nearly.
fn text(tokens: &TokenStream) -> String {
    let mut text = tokens.to_string().replace('\n', " ");
    for (from, to) in [
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        (" ;", ";"),
        (" :", ":"),
        (": :", "::"),
        (":: ", "::"),
        ("& ", "&"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("$ ", "$"),
        ("' ", "'"),
        (" [", "["),
        (" !", "!"),
        ("-> ", " -> "),
        ("  ", " "),
    ] {
        text = text.replace(from, to);
    }
    text.replace("->(", "-> (").trim().to_owned()
}

/// Without attributes and documentation.
fn bare(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                if matches!(tokens.peek(), Some(TokenTree::Punct(_))) {
                    tokens.next();
                }
                tokens.next();
            }
            TokenTree::Group(group) => {
                let inner = bare(group.stream());
                out.extend([TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inner))]);
            }
            token => out.extend([token]),
        }
    }
    out
}

/// The entries of a macro's call: what `,` and `;` part, with those in braces behind their head.
fn entries(head: &str, tokens: TokenStream, out: &mut Vec<String>) {
    let (mut entry, mut angles) = (TokenStream::new(), 0_u32);
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let head = format!("{head} {}", text(&entry)).trim().to_owned();
                out.push(head.clone());
                entries(&head, group.stream(), out);
                entry = TokenStream::new();
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' || punct.as_char() == ',' && angles == 0 => {
                angles = 0;
                out.extend((!entry.is_empty()).then(|| format!("{head} / {}", text(&entry))));
                entry = TokenStream::new();
            }
            token => {
                match &token {
                    TokenTree::Punct(punct) if punct.as_char() == '<' => angles += 1,
                    TokenTree::Punct(punct) if punct.as_char() == '>' => angles = angles.saturating_sub(1),
                    _ => {}
                }
                entry.extend([token]);
            }
        }
    }
    out.extend((!entry.is_empty()).then(|| format!("{head} / {}", text(&entry))));
}

/// What a macro makes: heads of its public items and of its implementations.
fn made(tokens: TokenStream, out: &mut Vec<String>) {
    let mut head: Option<TokenStream> = None;
    for token in tokens {
        let starts = matches!(&token, TokenTree::Ident(ident) if ident == "pub" || ident == "impl");
        match (&mut head, token) {
            (None, token) if starts => head = Some(token.into()),
            (Some(own), TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                out.push(text(own));
                head = None;
                made(group.stream(), out);
            }
            (Some(own), TokenTree::Punct(punct)) if matches!(punct.as_char(), ';') => {
                out.push(text(own));
                head = None;
            }
            (Some(own), token) => own.extend([token]),
            (None, TokenTree::Group(group)) => made(group.stream(), out),
            (None, _) => {}
        }
    }
}

fn uses(tree: &UseTree, path: &[String], out: &mut Vec<(String, Vec<String>)>) {
    match tree {
        UseTree::Path(own) => uses(&own.tree, &joined(path, &own.ident), out),
        UseTree::Name(own) => out.push((own.ident.to_string(), joined(path, &own.ident))),
        UseTree::Rename(own) => out.push((own.rename.to_string(), joined(path, &own.ident))),
        UseTree::Group(own) => own.items.iter().for_each(|tree| uses(tree, path, out)),
        UseTree::Glob(_) => out.push(("*".into(), joined(path, "*"))),
    }
}

fn last_of(own: &Type) -> String {
    match own {
        Type::Path(path) => path.path.segments.last().unwrap().ident.to_string(),
        other => text(&other.to_token_stream()),
    }
}

impl Crate {
    fn file(&mut self, file: &Path, folder: &Path, module: &[String]) {
        let source = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.items(syn::parse_file(&source).unwrap().items, folder, module);
    }

    fn push(&mut self, module: &[String], name: impl ToString, what: &TokenStream) {
        self.lines.push((joined(module, name), text(what)));
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of item")]
    fn items(&mut self, items: Vec<Item>, folder: &Path, module: &[String]) {
        for item in items {
            match item {
                Item::Mod(own) if !has(&own.attrs, "cfg(test)") => {
                    let (path, folder) = (joined(module, &own.ident), folder.join(own.ident.to_string()));
                    if public(&own.vis) {
                        self.push(module, &own.ident, &quote!(pub mod));
                    } else {
                        self.private.insert(path.clone());
                    }
                    match own.content {
                        Some((_, items)) => self.items(items, &folder, &path),
                        None if folder.join("mod.rs").exists() => self.file(&folder.join("mod.rs"), &folder, &path),
                        None => self.file(&folder.with_extension("rs"), &folder, &path),
                    }
                }
                Item::Use(own) if public(&own.vis) && !has(&own.attrs, "doc(hidden)") => {
                    let mut found = Vec::new();
                    uses(&own.tree, &[], &mut found);
                    for (name, target) in found {
                        let target: Vec<String> = match target[0].as_str() {
                            "crate" => target[1..].to_vec(),
                            _ => module.iter().cloned().chain(target).collect(),
                        };
                        self.exports.push((joined(module, name), target));
                    }
                }
                Item::Struct(mut own) if public(&own.vis) && !has(&own.attrs, "doc(hidden)") => {
                    own.attrs.retain(|attribute| attribute.path().is_ident("derive"));
                    own.fields.iter_mut().for_each(|field| {
                        field.attrs.clear();
                        // A private field is no one's business, but that there is one is.
                        if !public(&field.vis) {
                            field.ty = syn::parse_quote!(_);
                            field.ident = field.ident.as_ref().map(|_| syn::parse_quote!(_private));
                        }
                    });
                    self.push(module, &own.ident, &own.to_token_stream());
                }
                Item::Enum(mut own) if public(&own.vis) => {
                    own.attrs.retain(|attribute| {
                        attribute.path().is_ident("derive") || attribute.path().is_ident("non_exhaustive")
                    });
                    self.push(module, own.ident.clone(), &bare_variants(own));
                }
                Item::Fn(own) if public(&own.vis) && !has(&own.attrs, "doc(hidden)") => {
                    let signature = &own.sig;
                    self.push(module, &own.sig.ident, &quote!(pub #signature));
                }
                Item::Const(own) if public(&own.vis) => {
                    let own_type = &own.ty;
                    self.push(module, &own.ident, &quote!(pub const: #own_type));
                }
                Item::Type(own) if public(&own.vis) => {
                    let (generics, own_type) = (&own.generics, &own.ty);
                    self.push(module, &own.ident, &quote!(pub type #generics = #own_type));
                }
                Item::Trait(own) if public(&own.vis) => {
                    let (generics, bounds) = (&own.generics, &own.supertraits);
                    self.push(module, &own.ident, &quote!(pub trait #generics: #bounds));
                    let path = joined(module, &own.ident);
                    for item in &own.items {
                        match item {
                            TraitItem::Fn(item) => {
                                let (signature, default) = (&item.sig, item.default.is_some().then(|| quote!({ .. })));
                                self.push(&path, &item.sig.ident, &quote!(#signature #default));
                            }
                            TraitItem::Const(item) => {
                                let (own_type, default) = (&item.ty, item.default.as_ref().map(|_| quote!(= ..)));
                                self.push(&path, &item.ident, &quote!(const: #own_type #default));
                            }
                            other => self.push(&path, "", &bare(other.to_token_stream())),
                        }
                    }
                }
                Item::Impl(own) => {
                    let (own_type, generics) = (&own.self_ty, &own.generics);
                    let path = joined(module, last_of(own_type));
                    if let Some((_, of, _)) = &own.trait_ {
                        self.lines.push((path, text(&quote!(impl #generics #of for #own_type))));
                        continue;
                    }
                    for item in &own.items {
                        match item {
                            ImplItem::Fn(item) if public(&item.vis) && !has(&item.attrs, "doc(hidden)") => {
                                let signature = &item.sig;
                                self.push(&path, &item.sig.ident, &quote!(impl #generics #own_type { pub #signature }));
                            }
                            ImplItem::Const(item) if public(&item.vis) => {
                                let const_type = &item.ty;
                                self.push(
                                    &path,
                                    &item.ident,
                                    &quote!(impl #generics #own_type { pub const: #const_type }),
                                );
                            }
                            _ => {}
                        }
                    }
                }
                Item::Macro(own) => {
                    let name = own.mac.path.segments.last().unwrap().ident.to_string();
                    if let Some(made_by) = &own.ident {
                        let mut out = Vec::new();
                        made(bare(own.mac.tokens), &mut out);
                        let exported = if has(&own.attrs, "macro_export") { "exported " } else { "" };
                        self.lines.push((vec![format!("{made_by}!")], format!("{exported}macro")));
                        out.into_iter().for_each(|line| self.lines.push((vec![format!("{made_by}!")], line)));
                        continue;
                    }
                    let mut out = Vec::new();
                    entries("", bare(own.mac.tokens), &mut out);
                    // A record's components are the record's.
                    let record = (name == "sa_record").then(|| words(&out[0]).next().unwrap_or_default().to_owned());
                    for line in out {
                        let declared = words(&line).skip_while(|word| !["struct", "enum"].contains(word)).nth(1);
                        let item = record.as_deref().or(declared).or_else(|| words(&line).next()).unwrap_or_default();
                        // What a setter does is not its interface.
                        let line = line.split(" |").next().unwrap_or_default().trim();
                        self.lines.push((joined(module, item), format!("{name}! {line}")));
                    }
                }
                _ => {}
            }
        }
    }

    /// The shortest path by which a user reaches what the sources have at `path`.
    fn seen(&self, path: &[String]) -> Vec<String> {
        let mut best: Option<Vec<String>> = None;
        let hidden = |path: &[String]| (1..path.len()).any(|length| self.private.contains(&path[..length]));
        if !hidden(path) {
            best = Some(path.to_vec());
        }
        for (name, target) in &self.exports {
            if let Some(rest) = path.strip_prefix(&target[..])
                && name != path
            {
                let other = self.seen(&name.iter().chain(rest).cloned().collect::<Vec<_>>());
                if !hidden(&other) && best.as_ref().is_none_or(|best| other.len() < best.len()) {
                    best = Some(other);
                }
            }
        }
        best.unwrap_or_else(|| path.to_vec())
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

fn bare_variants(mut own: syn::ItemEnum) -> TokenStream {
    own.variants.iter_mut().for_each(|variant| {
        variant.attrs.clear();
        variant.fields.iter_mut().for_each(|field| field.attrs.clear());
    });
    own.to_token_stream()
}

pub(crate) fn listing() -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut own = Crate::default();
    own.file(&source.join("lib.rs"), &source, &[]);
    // A type that is extended in another module than its own: the one item of that name.
    let mut named: BTreeMap<&String, BTreeSet<&[String]>> = BTreeMap::new();
    for (path, what) in &own.lines {
        if ["pub struct", "pub enum", "pub trait"].iter().any(|kind| what.contains(kind)) && !path[0].ends_with('!') {
            named.entry(path.last().unwrap()).or_default().insert(path);
        }
    }
    let home = |path: &[String]| {
        for at in (0..path.len()).rev() {
            match named.get(&path[at]) {
                Some(homes) if !homes.contains(&path[..=at]) && homes.len() == 1 => {
                    return homes.first().unwrap().iter().chain(&path[at + 1..]).cloned().collect();
                }
                Some(_) => break,
                None => {}
            }
        }
        path.to_vec()
    };
    let mut lines: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (path, what) in &own.lines {
        lines.entry(own.seen(&home(path)).join("::")).or_default().insert(what);
    }
    // Of another crate, or what a macro makes.
    for (name, _) in own.exports.iter().filter(|(name, _)| own.seen(name) == *name) {
        lines.entry(name.join("::")).or_insert_with(|| BTreeSet::from(["pub use"]));
    }
    lines.iter().flat_map(|(path, all)| all.iter().map(move |what| format!("{path}  {what}\n"))).collect()
}

/// Compares the public items with those of `tests/public_api.txt`, or writes that file anew if `UPDATE_API` is set.
pub(crate) fn check() {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public_api.txt");
    let now = listing();
    if std::env::var_os("UPDATE_API").is_some() {
        fs::write(&file, now).unwrap();
        return;
    }
    let recorded = fs::read_to_string(&file).unwrap();
    let (now, recorded): (BTreeSet<&str>, BTreeSet<&str>) = (now.lines().collect(), recorded.lines().collect());
    let gone: Vec<_> = recorded.difference(&now).collect();
    let new: Vec<_> = now.difference(&recorded).collect();
    assert!(gone.is_empty() && new.is_empty(), "gone: {gone:#?}\nnew: {new:#?}\nif it is meant: UPDATE_API=1");
}
