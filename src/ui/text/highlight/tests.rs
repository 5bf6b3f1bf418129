use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::ui::text::tests::nasty;
use crate::ui::theme::Colours;

/// A line's runs as `role:text`, plain ones left out.
fn roles(language: &str, lines: &[&str]) -> Vec<String> {
    let language = languages::find(language).unwrap();
    let mut inside = Inside::Nothing;
    let mut out = Vec::new();
    for line in lines {
        let mut pieces = Pieces { language, line, inside, out: Vec::new(), at: 0 };
        pieces.read();
        inside = pieces.inside;
        let mut from = 0;
        for (end, role) in pieces.out {
            if role != Role::Text {
                out.push(format!("{}:{}", role.name(), &line[from..end]));
            }
            from = end;
        }
    }
    out
}

#[test]
fn languages_are_told_apart() {
    let table: [(&str, &[&str], &[&str]); 14] = [
        (
            "rust",
            &[
                "fn f<'a>(x: &'a str) -> Option<char> { vec![1..2, 0x1f]; Some('\\'') } // it's",
                "/* a",
                "b */ r#\"x\"y\"#",
            ],
            &[
                "keyword:fn",
                "type:'a",
                "type:'a",
                "keyword:str",
                "type:Option",
                "keyword:char",
                "function:vec",
                "number:1",
                "number:2",
                "number:0x1f",
                "function:Some",
                "literal:'\\''",
                "comment:// it's",
                "comment:/* a",
                "comment:b */",
                "literal:r#\"x\"y\"#",
            ],
        ),
        (
            "python",
            &["@cache", "def f(a): return \"it's\" # why", "'''", "long''' + None"],
            &[
                "function:@cache",
                "keyword:def",
                "function:f",
                "keyword:return",
                "literal:\"it's\"",
                "comment:# why",
                "literal:'''",
                "literal:long'''",
                "number:None",
            ],
        ),
        (
            "ts",
            &["const x: Map = `a", "b` // c"],
            &["keyword:const", "type:Map", "literal:`a", "literal:b`", "comment:// c"],
        ),
        (
            "sh",
            &["if [ -n \"$x\" ]; then echo a#b # c", "apt-get install $HOME"],
            &["keyword:if", "literal:\"$x\"", "keyword:then", "comment:# c", "type:$HOME"],
        ),
        (
            "json",
            &["{\"key\": \"value\", \"n\": -1.5, \"b\": true}"],
            &["type:\"key\"", "literal:\"value\"", "type:\"n\"", "number:1.5", "type:\"b\"", "number:true"],
        ),
        (
            "toml",
            &["[section]", "max-size = 3 # c", "s = \"a\""],
            &["type:[section]", "type:max-size", "number:3", "comment:# c", "type:s", "literal:\"a\""],
        ),
        ("yaml", &["- name: x", "  url: 'http://y#z'"], &["type:name", "type:url", "literal:'http://y#z'"]),
        (
            "html",
            &["<a href=\"x", "y\">if</a><!-- c -->"],
            &["type:<a", "function:href", "literal:\"x", "literal:y\"", "type:>", "type:</a>", "comment:<!-- c -->"],
        ),
        (
            "sql",
            &["SELECT count(*) FROM t -- c"],
            &["keyword:SELECT", "function:count", "keyword:FROM", "comment:-- c"],
        ),
        ("diff", &["+a", "-b", " c", "@@ -1 +1 @@"], &["added:+a", "removed:-b", "hunk:@@ -1 +1 @@"]),
        ("go", &["func f() { s := `\\` }"], &["keyword:func", "function:f", "literal:`\\`"]),
        ("c", &["char *s = \"open", "int x;"], &["keyword:char", "literal:\"open", "keyword:int"]),
        ("css", &["a-b: 1px; /* c */"], &["type:a-b", "number:1px", "comment:/* c */"]),
        ("lua", &["local x = nil -- c"], &["keyword:local", "number:nil", "comment:-- c"]),
    ];
    for (language, lines, expected) in table {
        assert_eq!(roles(language, lines), expected, "{language}");
    }
}

#[test]
fn a_name_belongs_to_one_language() {
    let mut seen = BTreeSet::new();
    for name in languages::LANGUAGES.iter().flat_map(|language| language.names) {
        assert!(seen.insert(name), "{name}");
        assert_eq!(*name, name.to_lowercase());
    }
}

proptest! {
    #[test]
    fn spans_are_the_line(text in nasty(), language in 0..languages::LANGUAGES.len()) {
        let theme = Theme::shipped("default", Colours::Ansi).unwrap();
        let mut highlighter = Highlighter::new(languages::LANGUAGES[language].names[0]);
        for line in text.lines() {
            let spans = highlighter.line(line, &theme);
            let joined: String = spans.iter().map(|span| span.content.as_ref()).collect();
            prop_assert_eq!(joined, line);
        }
    }
}
