//! What the languages of code blocks are made of: comments, quotes and words. Data only.

/// How a language is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words and signs.
    Code,
    /// Keys and values, a pair a line or in braces.
    Keys,
    /// Tags.
    Markup,
    /// A diff: the first sign of a line says all.
    Diff,
}

/// A literal's quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quote {
    pub open: &'static str,
    pub close: &'static str,
    /// A backslash takes the sign after it out of the count.
    pub escapes: bool,
    /// It may go on in the next line.
    pub lines: bool,
}

/// What a language does and others don't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    /// A capital begins the name of a type.
    Capitals,
    /// `'a` is a lifetime, `name!` a macro.
    Lifetimes,
    /// `-` may stand inside of a word, and `$` begins a variable.
    Dashes,
    /// Keywords in any case.
    AnyCase,
}

/// One language.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Language {
    /// What fences call it, in lower case.
    pub names: &'static [&'static str],
    pub kind: Kind,
    pub line_comments: &'static [&'static str],
    pub block_comment: Option<(&'static str, &'static str)>,
    /// Longer openings first.
    pub quotes: &'static [Quote],
    /// Between single spaces.
    pub keywords: &'static str,
    pub habits: &'static [Habit],
}

/// Values with a name, in any language.
pub(super) const CONSTANTS: &[&str] =
    &["true", "false", "null", "nil", "none", "None", "True", "False", "undefined", "NULL", "nullptr", "NaN"];

const fn quote(sign: &'static str) -> Quote {
    Quote { open: sign, close: sign, escapes: true, lines: false }
}

const fn long(sign: &'static str) -> Quote {
    Quote { open: sign, close: sign, escapes: true, lines: true }
}

const fn raw(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, escapes: false, lines: true }
}

const DOUBLE: Quote = quote("\"");
const SINGLE: Quote = quote("'");
const BOTH: &[Quote] = &[DOUBLE, SINGLE];
const SLASHES: &[&str] = &["//"];
const STARS: Option<(&str, &str)> = Some(("/*", "*/"));
const HASH: &[&str] = &["#"];

const BASE: Language = Language {
    names: &[],
    kind: Kind::Code,
    line_comments: SLASHES,
    block_comment: STARS,
    quotes: BOTH,
    keywords: "",
    habits: &[Habit::Capitals],
};

impl Language {
    pub(super) fn has(&self, habit: Habit) -> bool {
        self.habits.contains(&habit)
    }

    pub(super) fn is_keyword(&self, word: &str) -> bool {
        self.keywords.split(' ').any(|keyword| keyword == word)
    }
}

/// The language that a fence calls `name`.
pub(super) fn find(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.names.contains(&name))
}

pub(super) static LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        quotes: &[raw("r#\"", "\"#"), raw("r\"", "\""), long("\""), SINGLE],
        keywords: "\
            as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod \
            move mut pub ref return self Self static struct super trait type unsafe use where while yield bool \
            char str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64",
        habits: &[Habit::Capitals, Habit::Lifetimes],
        ..BASE
    },
    Language {
        names: &["python", "py", "python3", "pycon"],
        line_comments: HASH,
        block_comment: None,
        quotes: &[long("\"\"\""), long("'''"), DOUBLE, SINGLE],
        keywords: "\
            and as assert async await break case class continue def del elif else except finally for from global \
            if import in is lambda match nonlocal not or pass raise return self try while with yield",
        ..BASE
    },
    Language {
        names: &["javascript", "js", "jsx", "mjs", "typescript", "ts", "tsx", "node"],
        quotes: &[long("`"), DOUBLE, SINGLE],
        keywords: "\
            abstract any as async await boolean break case catch class const continue debugger declare default \
            delete do else enum export extends finally for from function get if implements import in instanceof \
            interface keyof let namespace new number of private protected public readonly return satisfies set \
            static string super switch this throw try type typeof unknown var void while yield",
        ..BASE
    },
    Language {
        names: &["c", "h", "cpp", "c++", "cc", "cxx", "hpp", "objc", "arduino", "cuda", "glsl"],
        keywords: "\
            alignas auto bool break case catch char class co_await const constexpr continue default delete do \
            double else enum explicit extern float for friend goto if inline int long mutable namespace new \
            noexcept operator override private protected public register return short signed sizeof static \
            struct switch template this throw try typedef typename union unsigned using virtual void volatile \
            while",
        ..BASE
    },
    Language {
        names: &["java", "kotlin", "kt", "kts", "scala", "groovy", "csharp", "c#", "cs", "dart", "swift"],
        quotes: &[long("\"\"\""), DOUBLE, SINGLE],
        keywords: "\
            abstract as async await base bool boolean break byte case catch char class const continue data def \
            default defer do double else enum extends extension final finally float for foreach fun func guard \
            if implements import in init inout instanceof int interface internal is late let long match mixin \
            namespace new object open operator out override package private protected protocol public record \
            required return sealed self short static string struct super suspend switch synchronized this throw \
            throws trait try typealias using val var virtual void volatile when where while with yield",
        ..BASE
    },
    Language {
        names: &["go", "golang"],
        quotes: &[raw("`", "`"), DOUBLE, SINGLE],
        keywords: "\
            any bool break byte case chan const continue default defer else error fallthrough float32 float64 \
            for func go goto if import int int32 int64 interface map package range return rune select string \
            struct switch type uint uint8 uint32 uint64 var",
        ..BASE
    },
    Language {
        names: &["zig"],
        keywords: "\
            and break catch comptime const continue defer else enum errdefer error export extern fn for if \
            inline or orelse packed pub return struct switch test try union unreachable usingnamespace var \
            volatile while",
        ..BASE
    },
    Language {
        names: &["php"],
        line_comments: &["//", "#"],
        keywords: "\
            abstract array as break case catch class const continue default do echo else elseif extends final \
            finally fn for foreach function global if implements interface match namespace new private protected \
            public readonly require return static switch throw trait try use var while yield",
        ..BASE
    },
    Language {
        names: &["ruby", "rb", "crystal", "elixir", "ex", "exs", "julia", "jl", "perl", "pl", "r"],
        line_comments: HASH,
        block_comment: None,
        keywords: "\
            alias and begin break case catch class cond const def defmodule defp do else elseif elsif end ensure \
            export fn for foreach function global if import in include let library local macro module mutable my \
            next not or our package quote raise redo repeat require rescue retry return self struct sub super \
            then try undef unless until use using when where while with yield",
        ..BASE
    },
    Language {
        names: &["bash", "sh", "shell", "zsh", "console", "shell-session", "fish", "powershell", "ps1", "nushell"],
        line_comments: HASH,
        block_comment: None,
        quotes: &[long("\""), Quote { open: "'", close: "'", escapes: false, lines: true }],
        keywords: "\
            break case continue do done elif else end esac eval exec exit export fi for foreach function if in \
            local param readonly return set shift source sudo then trap unset until while",
        habits: &[Habit::Dashes],
        ..BASE
    },
    Language {
        names: &["make", "makefile", "cmake", "dockerfile", "docker", "just", "justfile", "nix"],
        line_comments: HASH,
        block_comment: None,
        keywords: "\
            ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL USER VOLUME WORKDIR \
            assert else endif export foreach function if ifdef ifeq ifndef import in include inherit let rec set \
            then with",
        habits: &[Habit::Dashes],
        ..BASE
    },
    Language {
        names: &["lua", "haskell", "hs", "elm", "ada", "vhdl"],
        line_comments: &["--"],
        block_comment: Some(("{-", "-}")),
        keywords: "\
            and begin break case class data deriving do else elseif end entity for forall function goto if \
            import in instance is let local module newtype not of or package port procedure repeat return signal \
            then type until where while",
        ..BASE
    },
    Language {
        names: &["ocaml", "ml", "fsharp", "f#", "fs"],
        block_comment: Some(("(*", "*)")),
        quotes: &[DOUBLE],
        keywords: "\
            and as begin class do done else end exception for fun function functor if in include let match \
            member method module mutable namespace new of open rec sig struct then to try type val when while \
            with yield",
        ..BASE
    },
    Language {
        names: &["clojure", "clj", "lisp", "elisp", "scheme", "racket"],
        line_comments: &[";"],
        block_comment: None,
        quotes: &[long("\"")],
        keywords: "\
            cond def defmacro defn defun define do fn if lambda let loop ns quote recur require setq when",
        habits: &[Habit::Dashes],
        ..BASE
    },
    Language {
        names: &["sql", "postgresql", "postgres", "mysql", "sqlite", "plsql"],
        line_comments: &["--"],
        keywords: "\
            add all alter and as asc begin between by case check commit constraint create cross default delete \
            desc distinct drop else end exists foreign from full group having if in index inner insert integer \
            into is join key left like limit not offset on or order outer primary references returning right \
            rollback select set table text then trigger union unique update using values view when where with",
        habits: &[Habit::AnyCase],
        ..BASE
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl", "ndjson"],
        kind: Kind::Keys,
        quotes: &[DOUBLE],
        habits: &[],
        ..BASE
    },
    Language {
        names: &["toml", "ini", "cfg", "conf", "properties", "dotenv", "env", "yaml", "yml", "systemd"],
        kind: Kind::Keys,
        line_comments: HASH,
        block_comment: None,
        quotes: &[long("\"\"\""), long("'''"), DOUBLE, SINGLE],
        habits: &[Habit::Dashes],
        ..BASE
    },
    Language {
        names: &["css", "scss", "less", "graphql", "gql", "proto", "protobuf", "hcl", "terraform", "tf"],
        kind: Kind::Keys,
        keywords: "\
            data enum extend fragment import input interface message module mutation oneof output package \
            provider query repeated resource rpc scalar service subscription syntax type union variable",
        habits: &[Habit::Dashes],
        ..BASE
    },
    Language {
        names: &["html", "xml", "svg", "xhtml", "vue", "svelte", "jinja", "plist"],
        kind: Kind::Markup,
        line_comments: &[],
        block_comment: None,
        quotes: &[Quote { escapes: false, ..long("\"") }, Quote { escapes: false, ..long("'") }],
        habits: &[Habit::Dashes],
        ..BASE
    },
    Language { names: &["diff", "patch"], kind: Kind::Diff, ..BASE },
];
