//! Rule → test: every rule of access and the tests whose names begin with its id, read from what cargo compiles.
//!
//! The rules themselves are stated elsewhere; here each has a few words to find it by.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ItemFn, ItemMod, Lit, Macro, Meta};

/// Every rule that must have a test, in order, and what it is about.
const RULES: &[(&str, &str)] = &[
    ("A1", "`available`: a list of toolsets, or `\"all\"`"),
    ("A2", "an unknown name fails the start, before anything is built"),
    ("A3", "one namespace over every kind of toolset"),
    ("A4", "no toolset is called `core` or `all`"),
    ("A5", "`\"all\"` inside a list fails the start"),
    ("A6", "`\"all\"` expands in trust order, by one function"),
    ("A7", "toolsets for the entry agent only"),
    ("A8", "core tools are earned by the table"),
    ("A9", "skills: the entry agent's, and a worker's"),
    ("A10", "delegates are declared, other, and in no cycle"),
    ("A11", "nothing that happens adds a toolset"),
    ("A12", "calling what is not held is an error result"),
    ("A13", "installing gives to nobody"),
    ("A14", "capability is read once; its keys are locked"),
    ("A15", "duplicates, and keys of `[assistant.tools]`"),
    ("A16", "the index of built-in toolsets, both ways"),
    ("A17", "tool names that nobody can hold are left out"),
    ("R1", "`resident` is part of `available`"),
    ("R2", "no `resident`: everything is; `\"all\"` needs one"),
    ("R3", "the order of `resident` changes nothing"),
    ("R4", "one line of the prompt names what is loadable"),
    ("R5", "what `available_tools` answers"),
    ("R6", "a load builds beside everything else"),
    ("R7", "a load appends; taken names are skipped, and said"),
    ("R8", "guidance comes with the load"),
    ("R9", "loads last, join, and leave nothing when stopped"),
    ("R10", "a failed build is said, and stays loadable"),
    ("R11", "a server that is not connected"),
    ("R12", "loads are restored from recorded endings"),
    ("R13", "what was preloaded counts as resident"),
    ("R14", "a preload that fails is no alert"),
    ("R15", "a worker's loads are its own"),
    ("R16", "the order of what is held"),
    ("R17", "held tools never change under a live agent"),
    ("R18", "guidance and loads outlive a shortened request"),
    ("R19", "workflow commands come with availability"),
    ("R20", "`spawn_subagent` has one schema for life"),
    ("N1", "built together: the first in order keeps the name"),
    ("N2", "a load never replaces a held tool"),
    ("N3", "a resident tool that lost its name is an alert"),
    ("N4", "an agent not wholly built is *not checked*"),
    ("N5", "wire names"),
    ("N6", "an entry on a shadowed tool still resolves"),
    ("O1", "the first filter is the reason; explain has all"),
    ("O2", "withholding never changes what is held"),
    ("O3", "dispatch asks every filter and the definition again"),
    ("O4", "the chain is cheap"),
    ("O5", "filters never reorder"),
    ("O6", "past calls stay in the request"),
    ("O7", "conditions pass to workers and only tighten"),
    ("O8", "which filters may withhold core tools"),
    ("O9", "the ledger's rows"),
    ("O10", "the wrap-up call offers nothing"),
    ("W1", "switched off"),
    ("W2", "health checks and facts"),
    ("W3", "modes"),
    ("W4", "families"),
    ("W5", "not loaded"),
    ("W6", "a turn's allow-list"),
    ("W7", "triggers"),
    ("P1", "what runs, what asks, and in which order"),
    ("P2", "the forms of an entry"),
    ("P3", "`confirm` and `review` are one policy"),
    ("P4", "each gate is bound to its agent"),
    ("P5", "the question names who asks"),
    ("P6", "entries that match nothing fail the start"),
    ("P7", "what the start builds; other entries are pending"),
    ("P8", "the hook: before anybody gets a tool, only adding"),
    ("P9", "builds that are refused, to everyone, for good"),
    ("P10", "conflicts that the text settles"),
    ("P11", "without auto-approval `review` asks as `confirm`"),
    ("P12", "unattended and unseen calls"),
    ("P13", "the answers, a closed set"),
    ("P14", "several cards at once"),
    ("P15", "a card shows exactly what will run"),
    ("P16", "denials with a sentence, grants, edited calls"),
    ("P17", "risk is no approval level"),
    ("P18", "a server's default"),
    ("P19", "a gate matches the name, whoever holds it"),
    ("P20", "the floor"),
    ("P21", "two ways past a card, never past the floor"),
    ("P22", "`--allow`"),
    ("P23", "the program's own files"),
    ("K1", "`kokua agents`"),
    ("K2", "`kokua toolsets`"),
    ("K3", "the startup summary"),
    ("K4", "`kokua explain` and `kokua agents --diff`"),
    ("K5", "the audit log"),
    ("K6", "what held exec tools can do, first of all"),
];

/// Rules whose parts are built later: listed where they have a test. Letter, how many, what they are about.
const LATER: &[(char, usize, &str)] =
    &[('D', 9, "delegation"), ('L', 6, "arrivals while running"), ('V', 7, "reviewers")];

/// The tests of one package: file, function.
type Tests = Vec<(String, String)>;

/// The table.
///
/// # Panics
/// A rule without a test, or a test named after a rule that there is not; each with its name.
pub(crate) fn table() -> String {
    match table_of(&compiled_tests(Path::new(env!("CARGO_MANIFEST_DIR")))) {
        Ok(table) => table,
        Err(faults) => panic!("\n{}\n", faults.join("\n")),
    }
}

fn table_of(tests: &Tests) -> Result<String, Vec<String>> {
    let mut faults = Vec::new();
    let mut by_rule: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for (file, test) in tests {
        let Some(id) = rule_of(test) else { continue };
        if about(&id).is_none() {
            faults.push(format!("{file}: `{test}` is named after {id}, and there is no such rule"));
        }
        by_rule.entry(id).or_default().push((file, test));
    }
    let required = RULES.iter().map(|(id, _)| (*id).to_owned());
    let later = LATER.iter().flat_map(|(letter, last, _)| (1..=*last).map(move |number| format!("{letter}{number}")));
    let mut table = String::from("| rule | about | test | in |\n|---|---|---|---|\n");
    for id in required.chain(later) {
        let Some(tests) = by_rule.get_mut(&id) else {
            if RULES.iter().any(|(rule, _)| *rule == id) {
                faults.push(format!("{id} has no test: none is named `{}_…`", id.to_lowercase()));
            }
            continue;
        };
        tests.sort_unstable();
        for (index, (file, test)) in tests.iter().enumerate() {
            let (rule, about) = match index {
                0 => (format!(" **{id}** "), format!(" {} ", about(&id).unwrap_or_default())),
                _ => (" ".to_owned(), " ".to_owned()),
            };
            writeln!(table, "|{rule}|{about}| `{test}` | {file} |").unwrap();
        }
    }
    if faults.is_empty() { Ok(table) } else { Err(faults) }
}

fn about(id: &str) -> Option<&'static str> {
    let required = RULES.iter().find(|(rule, _)| *rule == id).map(|(_, about)| *about);
    required.or_else(|| {
        let number: usize = id.get(1..)?.parse().ok()?;
        let later = LATER.iter().find(|(letter, ..)| id.starts_with(*letter))?;
        (1..=later.1).contains(&number).then_some(later.2)
    })
}

/// `P16` for `p16_and_p20_no_grant`: the id that a test's name begins with, the first only.
fn rule_of(test: &str) -> Option<String> {
    const LETTERS: &str = "arnowpkdlv";
    let (id, _) = test.split_once('_')?;
    let number = id.strip_prefix(|letter| LETTERS.contains(letter))?;
    let counts = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    counts.then(|| id.to_uppercase())
}

/// Every test function that `cargo test` compiles and does not ignore: modules are followed from each crate's root, so a
/// file that no `mod` names is not read.
fn compiled_tests(package: &Path) -> Tests {
    let mut reader = Reader { package, file: PathBuf::new(), inside: PathBuf::new(), tests: Vec::new() };
    for root in ["src/lib.rs", "src/main.rs"] {
        reader.read(package.join(root), package.join("src"));
    }
    for entry in fs::read_dir(package.join("tests")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            reader.read(path, package.join("tests"));
        } else if path.join("main.rs").is_file() {
            reader.read(path.join("main.rs"), path);
        }
    }
    reader.tests
}

struct Reader<'a> {
    package: &'a Path,
    file: PathBuf,
    /// The folder that holds the files of modules declared here.
    inside: PathBuf,
    tests: Tests,
}

impl Reader<'_> {
    fn read(&mut self, file: PathBuf, inside: PathBuf) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let before = (std::mem::replace(&mut self.file, file), std::mem::replace(&mut self.inside, inside));
        self.visit_file(&parsed);
        (self.file, self.inside) = before;
    }

    fn found(&mut self, test: String) {
        let file = self.file.strip_prefix(self.package).unwrap_or(&self.file);
        self.tests.push((file.to_string_lossy().replace('\\', "/"), test));
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        let has = |name: &str| {
            let is = |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == name);
            item.attrs.iter().any(is)
        };
        if has("test") && !has("ignore") {
            self.found(item.sig.ident.to_string());
        }
        visit::visit_item_fn(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let name = item.ident.to_string();
        if item.content.is_some() {
            let inside = self.inside.join(name);
            let before = std::mem::replace(&mut self.inside, inside);
            visit::visit_item_mod(self, item);
            self.inside = before;
            return;
        }
        if let Some(path) = item.attrs.iter().find_map(path_attribute) {
            let file = self.file.parent().unwrap_or(self.package).join(path);
            let inside = file.parent().unwrap_or(self.package).to_owned();
            return self.read(file, inside);
        }
        let beside = self.inside.join(format!("{name}.rs"));
        let within = self.inside.join(&name);
        self.read(if beside.is_file() { beside } else { within.join("mod.rs") }, within);
    }

    /// Tests that macros make: those of `proptest!`, and the scripts, which a list of names plays.
    fn visit_macro(&mut self, call: &'ast Macro) {
        let words = || call.tokens.clone().into_iter().map(|tree| tree.to_string());
        if call.path.is_ident("scripts") {
            words().for_each(|name| self.found(name));
        } else if call.path.is_ident("proptest") {
            let (mut words, mut is_test) = (words(), false);
            while let Some(word) = words.next() {
                match word.as_str() {
                    "[test]" => is_test = true,
                    "[ignore]" => is_test = false,
                    "fn" if is_test => {
                        words.next().into_iter().for_each(|name| self.found(name));
                        is_test = false;
                    }
                    _ => {}
                }
            }
        }
    }
}

/// What `#[path = "…"]` says.
fn path_attribute(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        Expr::Lit(value) if pair.path.is_ident("path") => match &value.lit {
            Lit::Str(path) => Some(path.value()),
            _ => None,
        },
        _ => None,
    }
}

#[test]
fn a_rule_without_a_test_and_a_test_without_a_rule_are_named() {
    let one_each = || -> Tests {
        RULES.iter().map(|(id, _)| ("tests/x.rs".to_owned(), format!("{}_holds", id.to_lowercase()))).collect()
    };
    let table = table_of(&one_each()).unwrap();
    assert_eq!(table.lines().count(), RULES.len() + 2);
    assert!(
        table.ends_with("| **K6** | what held exec tools can do, first of all | `k6_holds` | tests/x.rs |\n"),
        "{table}"
    );
    let mut tests = one_each();
    tests.retain(|(_, test)| test != "r8_holds");
    // A second id counts for nothing, and neither does one in the middle.
    tests.extend(
        ["r7_and_r8_holds", "about_r8_too", "p99_holds", "v0_holds"].map(|test| ("y.rs".to_owned(), test.to_owned())),
    );
    assert_eq!(
        table_of(&tests).unwrap_err(),
        [
            "y.rs: `p99_holds` is named after P99, and there is no such rule",
            "y.rs: `v0_holds` is named after V0, and there is no such rule",
            "R8 has no test: none is named `r8_…`",
        ]
    );
}

#[test]
fn each_rule_is_told_once_in_few_words() {
    for (index, (id, about)) in RULES.iter().enumerate() {
        assert!(!RULES[..index].iter().any(|(other, _)| other == id), "{id} stands twice");
        assert!(about.split_whitespace().count() <= 10, "{id}: {about}");
    }
    let last = |letter: char| RULES.iter().filter(|(id, _)| id.starts_with(letter)).count();
    assert_eq!(['A', 'R', 'N', 'O', 'W', 'P', 'K'].map(last), [17, 20, 6, 10, 7, 23, 6]);
}

#[test]
fn what_macros_make_and_what_modules_hold_is_read_and_what_is_ignored_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("src/lib.rs", "mod room; #[test] #[ignore] fn a0_ignored() {}");
    write("src/main.rs", "fn a1_no_test() {}");
    write("src/room.rs", "#[cfg(test)] mod tests; #[cfg(test)] #[path = \"apart.rs\"] mod more;");
    write("src/room/tests.rs", "mod deep { #[tokio::test] async fn a2_deep() {} }");
    write("src/apart.rs", "#[test] fn a3_apart() {}");
    write("src/orphan.rs", "#[test] fn a4_orphan() {}");
    write("tests/runs/main.rs", "mod props; macro_rules! scripts { () => {} } scripts! { a5_script a_plain_one }");
    write(
        "tests/runs/props.rs",
        "proptest! { #[test] fn a6_held(x in 0..2) { fn a7_inner() {} } #[test] #[ignore] fn a8_ignored(x in 0..2) {} }",
    );
    let mut tests: Vec<String> = compiled_tests(folder.path()).into_iter().map(|(_, test)| test).collect();
    tests.sort();
    assert_eq!(tests, ["a2_deep", "a3_apart", "a5_script", "a6_held", "a_plain_one"]);
}
