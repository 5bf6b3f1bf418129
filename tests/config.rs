//! The configuration as a person meets it: whole files in, the resolved values or the exact message out.
//! Nothing here touches a real home directory.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test reads and writes its own files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kokua::access::declare::Background;
use kokua::access::report::ToolsetState;
use kokua::access::{AgentName, Available, Declarations, Fault, Span, Spanned};
use kokua::app::{self, Prepared, StartError};
use kokua::config::settings::{Applies, SECTIONS, Setting, section_at};
use kokua::config::{self, Config, Locations, NewValue, Problems, Sandbox, Source, Thinking, WriteError};
use pretty_assertions::assert_eq;

fn locations() -> Locations {
    Locations {
        home_variable: Some("/home/me/.kokua".into()),
        user_home: Some("/home/me".into()),
        working_directory: "/home/me/work".into(),
        ..Locations::default()
    }
}

fn parse(text: &str) -> Result<Config, Problems> {
    config::parse(Source { path: "config.toml".into(), text: text.to_owned() }, &locations(), |_| Vec::new())
}

/// Through all that a start asks of a file, with the toolsets that ship: this room, access against the registry, startup's
/// builds and what they show of the entries.
fn checked(text: &str) -> Result<Prepared, Problems> {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let locations = Locations {
        home_variable: Some(at(".kokua")),
        user_home: Some(home.path().into()),
        working_directory: at("work"),
        ..Locations::default()
    };
    let source = Source { path: "config.toml".into(), text: text.to_owned() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match runtime.block_on(app::check_text(source, locations)) {
        Ok(prepared) => Ok(prepared),
        Err(StartError::Config(problems)) => Err(problems),
        Err(other) => panic!("{other}"),
    }
}

/// What each agent can call, holds and is asked about, as the program came to understand it.
fn understood(prepared: &Prepared) -> String {
    fn list<T: std::fmt::Display>(words: impl IntoIterator<Item = T>) -> String {
        let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
        if words.is_empty() { "none".to_owned() } else { words.join(" ") }
    }
    let world = &prepared.capabilities.world;
    let mut text = String::new();
    for agent in &world.declarations().agents {
        let report = kokua::access::report(world, &agent.name.value, None, None);
        let gates = report.entries.iter().map(|row| {
            let tools = if row.pending { "pending".to_owned() } else { row.tools.len().to_string() };
            format!("{}:{}={tools}", row.list, row.entry)
        });
        let off = report.toolsets.iter().filter(|row| matches!(row.state, ToolsetState::Off { .. }));
        text.push_str(&format!(
            "{}{} can call {} | starts with {} | loads {}\n  asks {} ({})\n  dropped {} | off {}\n",
            report.agent,
            if report.entry { " (entry)" } else { "" },
            list(&report.available),
            list(world.resident(&report.agent)),
            list(&report.deferred),
            list(gates),
            report.policy_source,
            list(&report.dropped_defaults),
            list(off.map(|row| &row.name)),
        ));
    }
    for alert in &prepared.alerts {
        text.push_str(&format!("alert: {}\n", alert.message));
    }
    text
}

fn message(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .into_iter()
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap()))
        .collect()
}

/// What the declarations say, with the line and column of every word.
fn declared(declarations: &Declarations) -> String {
    fn place<T: std::fmt::Display>(word: &Spanned<T>) -> String {
        format!("{}@{}:{}", word.value, word.span.line, word.span.column)
    }
    fn list<T: std::fmt::Display>(words: &[Spanned<T>]) -> String {
        words.iter().map(place).collect::<Vec<_>>().join(" ")
    }
    let mut text = String::new();
    let mut say = |line: String| text.push_str(&format!("{}\n", line.trim_end()));
    say(format!("entry: {}", declarations.entry.as_ref().map_or("default".to_owned(), place)));
    let pair = |pair: &kokua::access::declare::Pair| {
        let side = |list_of: &Option<kokua::access::declare::EntryList>| {
            list_of.as_ref().map_or("-".to_owned(), |side| format!("({}) {}", side.key.line, list(&side.entries)))
        };
        format!("confirm {} | review {}", side(&pair.confirm), side(&pair.review))
    };
    say(format!("default pair: {}", pair(&declarations.default_pair)));
    for agent in &declarations.agents {
        let available = match &agent.available {
            Available::Absent => "-".to_owned(),
            Available::All(span) => format!("all@{}:{}", span.line, span.column),
            Available::List(names) => list(names),
        };
        say(format!("agent {} {:?}", place(&agent.name), agent.description));
        say(format!("  available: {available}"));
        say(format!("  resident: {}", agent.resident.as_ref().map_or("-".to_owned(), |names| list(names))));
        say(format!("  pair: {}", pair(&agent.pair)));
        say(format!("  delegates to: {}", list(&agent.delegates_to)));
    }
    say(format!("floor: {}", list(&declarations.floor)));
    say(format!("disabled: {}", list(&declarations.disabled)));
    text
}

#[test]
fn valid_configurations_mean_what_they_say() {
    for (name, text) in files("valid") {
        let config = parse(&text).unwrap_or_else(|problems| panic!("{name}:\n{problems}"));
        let prepared = checked(&text).unwrap_or_else(|problems| panic!("{name}:\n{problems}"));
        let shown = format!(
            "{}\n{}\n{}\ndata: {}\nroots: {:?}",
            understood(&prepared),
            config::show(&config),
            declared(&config.declarations),
            config.data.display(),
            config.fs.roots
        );
        insta::assert_snapshot!(format!("valid__{name}"), shown);
    }
}

#[test]
fn invalid_configurations_say_what_is_wrong_where_and_what_to_write() {
    let mut nowhere = Vec::new();
    for (name, text) in files("invalid") {
        let problems = checked(&text).map(|_| ()).expect_err(&name);
        insta::assert_snapshot!(format!("invalid__{name}"), problems.to_string());
        if problems.list().iter().any(|problem| problem.span.is_none()) {
            nowhere.push(name.clone());
        }
        let lines: Vec<_> = problems.list().iter().filter_map(|problem| problem.span).map(|span| span.start).collect();
        assert!(lines.is_sorted(), "{name}: not in file order");
    }
    // What is missing from the whole file is at no place in it.
    assert_eq!(nowhere, ["a2_empty", "a2_no_agent_at_all", "a2_no_table_of_the_entry_agent"]);
}

/// Sixty broken files and twenty good ones, each in its own words: a file that says nothing new is no example.
#[test]
fn the_collection_is_as_large_as_it_is_said_to_be() {
    let distinct = |folder: &str| files(folder).into_iter().map(|(_, text)| text).collect::<BTreeSet<_>>().len();
    assert!(distinct("invalid") >= 60 && distinct("valid") >= 20);
}

#[test]
fn names_with_dots_stay_apart() {
    let text = "[agents.\"a.tools\"]\ndescription = \"a name with a dot\"\n[agents.a.tools]\navailable = [\"time\"]\n\
                [agents.\"a.tools\".tools]\navailable = [\"fs\"]\n";
    let declared = declared(&parse(text).unwrap().declarations);
    assert!(declared.contains("agent a.tools@1:9 \"a name with a dot\"\n  available: fs@6:14\n"), "{declared}");
    assert!(declared.contains("agent a@3:9 \"\"\n  available: time@4:14\n"), "{declared}");
}

#[test]
fn no_secret_is_printed_anywhere() {
    for (name, text) in files("invalid").into_iter().chain(files("valid")) {
        let shown = match parse(&text) {
            Ok(config) => format!("{}{config:?}", config::show(&config)),
            Err(problems) => format!("{problems}"),
        };
        assert!(!shown.contains("hush"), "{name}: {shown}");
    }
}

/// Any prefix of any file, and any single byte taken out of it, is read or refused, never a panic.
#[test]
fn no_file_breaks_the_reader() {
    for (_, text) in files("invalid").into_iter().chain(files("valid")) {
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            if let Err(problems) = parse(&text[..at]) {
                assert!(!problems.to_string().is_empty());
            }
            if let Some(next) = text[at..].chars().next() {
                let without = format!("{}{}", &text[..at], &text[at + next.len_utf8()..]);
                if let Err(problems) = parse(&without) {
                    assert!(!problems.to_string().is_empty());
                }
            }
        }
    }
}

#[test]
fn absent_sandbox_runs_nothing() {
    assert_eq!(parse("").unwrap().compute.sandbox, Sandbox::None);
    assert_eq!(parse("[compute]\nsandbox = \"off\"").unwrap().compute.sandbox, Sandbox::Off);
}

#[test]
fn p12_what_waits_out_of_sight_and_for_how_long() {
    let config = parse("").unwrap();
    assert_eq!(config.declarations.background, Background::Park);
    assert_eq!((config.security.presence_minutes, config.security.approval_timeout_minutes), (15, 0));
    let config =
        parse("[security]\nbackground = \"deny\"\npresence_minutes = 1\napproval_timeout_minutes = 5\n").unwrap();
    assert_eq!(config.declarations.background, Background::Deny);
    assert_eq!((config.security.presence_minutes, config.security.approval_timeout_minutes), (1, 5));
}

#[test]
fn d3_how_deep_workers_compose_workers() {
    let depth = |text: &str| parse(text).map(|config| config.capabilities.max_depth);
    assert_eq!(depth("").unwrap(), 3);
    assert_eq!(depth("[capabilities]\nmax_depth = 0\n").unwrap(), 0);
    assert_eq!(depth("[capabilities]\nmax_depth = 16\n").unwrap(), 16);
    assert!(depth("[capabilities]\nmax_depth = 17\n").is_err());
    let setting = section_at("capabilities").unwrap().settings.iter().find(|setting| setting.key == "max_depth");
    assert_eq!(setting.unwrap().applies, Applies::Hot);
}

#[test]
fn d2_an_agent_has_its_own_settings_or_the_assistants() {
    let config = parse(
        "[assistant]\nmodel = \"a:b\"\nthinking = \"high\"\nmax_iterations = 7\n[assistant.generation]\ntop_k = 1\n\
         temperature = 0.5\n[agents.own]\nmodel = \"c:d\"\nthinking = false\nmax_iterations = 2\nsystem_message = \"x\"\n\
         [agents.own.generation]\ntop_k = 9\n[agents.plain]\n",
    )
    .unwrap();
    let own = config.effective(&AgentName::new("own"));
    assert_eq!(own.model, Some("c:d"));
    assert_eq!(own.thinking, Some(Thinking::Off), "a written false is not unset");
    assert_eq!(own.max_iterations, 2);
    assert_eq!(own.system_message, Some("x"));
    assert_eq!((own.generation.top_k, own.generation.temperature), (Some(9), Some(0.5)));
    let plain = config.effective(&AgentName::new("plain"));
    assert_eq!((plain.model, plain.thinking, plain.max_iterations), (Some("a:b"), Some(Thinking::High), 7));
    assert_eq!(plain.generation.top_k, Some(1));
    assert_eq!(config.provider("ollama").stall_timeout_s, 120);
}

fn fault_at(config: &Config, path: &[&str], message: &str) -> Fault {
    Fault { rule: "A2", span: config.source.place(path), message: message.to_owned(), hint: None }
}

#[test]
fn what_another_room_finds_is_reported_together_and_in_the_same_form() {
    let text = "[display]\nmouse = 3\n\n[keys]\nfly = \"f\"\n";
    let source = Source { path: "config.toml".into(), text: text.to_owned() };
    let problems = config::parse(source.clone(), &locations(), |config| {
        vec![fault_at(config, &["keys", "fly"], "unknown action")]
    })
    .unwrap_err();
    insta::assert_snapshot!(problems.to_string(), @r#"
    config.toml:2:9: `mouse` must be `true` or `false`, not a whole number
      2 | mouse = 3
        |         ^

    config.toml:5:1: unknown action
      5 | fly = "f"
        | ^^^

    2 problems in config.toml
    "#);
    let place = source.place(&["keys", "fly"]);
    let fault = Fault { rule: "A2", span: place, message: "unknown action".to_owned(), hint: None };
    let alone = Problems::from_faults(&source, vec![fault]);
    assert!(alone.to_string().starts_with("config.toml:5:1: unknown action\n"));
    assert_eq!(source.place(&["keys", "other"]).unwrap().line, 4, "the innermost part that is written");
    assert_eq!(source.place(&["nowhere"]), None);
}

/// The place of every word is the word: what another room points at is what was written.
#[test]
fn every_word_stands_where_its_span_says() {
    for (name, text) in files("valid") {
        let config = parse(&text).unwrap();
        let declarations = &config.declarations;
        let mut words: Vec<(String, Span)> = Vec::new();
        let mut add = |value: &str, span: Span| words.push((value.to_owned(), span));
        for agent in &declarations.agents {
            add(agent.name.value.as_str(), agent.name.span);
            let available: &[_] = if let Available::List(names) = &agent.available { names } else { &[] };
            for word in available.iter().chain(agent.resident.iter().flatten()) {
                add(word.value.as_str(), word.span);
            }
            for word in &agent.delegates_to {
                add(word.value.as_str(), word.span);
            }
            for list in [&agent.pair.confirm, &agent.pair.review].into_iter().flatten() {
                for word in &list.entries {
                    add(&word.value, word.span);
                }
            }
        }
        for word in &declarations.floor {
            add(&word.value, word.span);
        }
        for (word, span) in words {
            let at = &text[span.start..span.end];
            assert_eq!(at.trim_matches('"'), word, "{name}");
            let line = text.lines().nth(span.line - 1).unwrap();
            let from_column: String = line.chars().skip(span.column - 1).collect();
            assert!(from_column.starts_with(at), "{name}: {word} at {}:{}", span.line, span.column);
        }
    }
}

/// `resident` beside a broken `available` cannot be judged, so it is not.
#[test]
fn half_a_table_is_not_judged() {
    let text =
        "[agents.a.tools]\navailable = [\"fs\", 3]\nresident = [\"fs\"]\n[agents.b.tools]\navailable = [\"x\"]\n";
    let source = Source { path: "config.toml".into(), text: text.to_owned() };
    let problems = config::parse(source, &locations(), |config| {
        let mut faults = Vec::new();
        for agent in &config.declarations.agents {
            let spans = match &agent.available {
                Available::List(names) => names.iter().map(|name| name.span).collect(),
                _ => Vec::new(),
            };
            for span in spans.into_iter().chain(agent.resident.iter().flatten().map(|name| name.span)) {
                let message = format!("judged {}", agent.name.value);
                faults.push(Fault { rule: "R1", span: Some(span), message, hint: None });
            }
        }
        faults
    })
    .unwrap_err();
    let said: Vec<&str> = problems.list().iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(said, ["`available` must be a list of names, or `\"all\"`, not one with a whole number", "judged b"]);
}

// ── With access ──

#[test]
fn the_example_passes_the_whole_check_and_so_does_its_second_agent() {
    drop(checked(config::EXAMPLE).unwrap_or_else(|problems| panic!("{problems}")));
    let researcher = config::EXAMPLE.replace("agent = \"assistant\" ", "agent = \"researcher\" ");
    assert_ne!(researcher, config::EXAMPLE);
    let prepared = checked(&researcher).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(prepared.capabilities.world.entry(), &AgentName::new("researcher"));
}

/// One list of everything: what this room finds and what access finds, by line, each once.
#[test]
fn a2_every_mistake_of_a_file_is_told_at_once() {
    let text = "[assistant]\nagent = \"asistant\"\nmodle = \"x\"\n\n[agents.assistant.tools]\n\
                available = [\"memroy\", \"fs\", \"fs\", \"All\"]\nresident = [\"time\"]\nconfirm = [\"fs.\"]\n\n\
                [security.auto_approval]\nenabled = true\n\n[toolsets]\ndisabled = [\"webb\"]\n";
    insta::assert_snapshot!("with_access", checked(text).map(|_| ()).unwrap_err().to_string());
}

// ── The declarations ──

fn every_setting() -> impl Iterator<Item = (&'static str, &'static Setting)> {
    SECTIONS.iter().flat_map(|section| section.settings.iter().map(move |setting| (section.path, setting)))
}

#[test]
fn every_setting_is_declared_once_and_described() {
    let mut seen = BTreeSet::new();
    for (section, setting) in every_setting() {
        assert!(seen.insert((section, setting.key)), "[{section}] {} is declared twice", setting.key);
        assert!(!setting.key.contains('.') && !setting.key.is_empty(), "{}", setting.key);
        assert!(setting.doc.ends_with('.'), "[{section}] {}: the line for people is a sentence", setting.key);
    }
    let mut sections = BTreeSet::new();
    assert!(SECTIONS.iter().all(|section| sections.insert(section.path)));
    assert!(section_at("agents.<name>.tools").is_some());
}

/// Each declared default, written out, means the same as leaving the key away.
#[test]
fn a_written_default_is_the_default() {
    use config::settings::Default;
    let mut text = String::new();
    for section in SECTIONS.iter().filter(|section| !section.path.contains('<')) {
        text.push_str(&format!("[{}]\n", section.path));
        for setting in section.settings {
            let value = match setting.default {
                Default::Unset(_) => continue,
                Default::Boolean(value) => value.to_string(),
                Default::Integer(value) => value.to_string(),
                Default::Number(value) => value.to_string(),
                Default::Text(value) => format!("{value:?}"),
                Default::Names(names) => format!("{names:?}"),
            };
            text.push_str(&format!("{} = {value}\n", setting.key));
        }
    }
    let (written, mut absent) = (parse(&text).unwrap(), parse("").unwrap());
    absent.source = written.source.clone();
    assert_eq!(written.declarations.entry.as_ref().unwrap().value, absent.assistant.agent);
    absent.declarations = written.declarations.clone();
    assert_eq!(written, absent);
}

// ── The example ──

/// The example with every commented key put in force: `#key = value`, as against `# a sentence`.
fn example_in_full() -> String {
    let mut text = String::new();
    for line in config::EXAMPLE.lines() {
        let bare = line.strip_prefix('#').filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '['));
        text.push_str(&format!("{}\n", bare.unwrap_or(line)));
    }
    text
}

#[test]
fn the_example_loads_as_shipped() {
    let config = parse(config::EXAMPLE).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(config.assistant.agent, AgentName::new("assistant"));
    assert_eq!(config.assistant.model, None, "discovery");
    assert_eq!(config.compute.sandbox, Sandbox::Off);
    insta::assert_snapshot!("example", format!("{}\n{}", config::show(&config), declared(&config.declarations)));
}

/// What the header of the example says of its commented lines: each can be put in force by itself, with the commented
/// table that it stands in, and where it says so it changes nothing.
#[test]
fn each_commented_line_of_the_example_is_what_the_header_says() {
    let lines: Vec<&str> = config::EXAMPLE.lines().collect();
    let bare =
        |line: &str| line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    let with = |in_force: &[usize]| {
        // A space for the `#` keeps the place of every other word.
        let line = |(at, line): (usize, &&str)| {
            if in_force.contains(&at) { format!("{}\n", line.replacen('#', " ", 1)) } else { format!("{line}\n") }
        };
        let text: String = lines.iter().enumerate().map(line).collect();
        let mut config = parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
        config.source.text.clear();
        config
    };
    let (mut table, mut defaults, mut examples) = (None, 0, 0);
    for (at, line) in lines.iter().enumerate() {
        if line.trim_start_matches('#').starts_with('[') {
            table = line.starts_with('#').then_some(at);
        } else if bare(line) {
            let around: Vec<usize> = table.into_iter().collect();
            let (without, with) = (with(&around), with(&[&around[..], &[at]].concat()));
            let is_default = line.ends_with("# default");
            assert_eq!(without == with, is_default, "{line}");
            if is_default { defaults += 1 } else { examples += 1 }
        }
    }
    assert!(defaults >= 9 && examples >= 9, "{defaults} {examples}");
}

#[test]
fn the_example_loads_with_every_comment_in_force() {
    parse(&example_in_full()).unwrap_or_else(|problems| panic!("{problems}"));
}

/// A key that the example does not show is a key that nobody finds. Sampling keys beyond the first two are left to the
/// reference.
#[test]
fn the_example_knows_every_section_and_nearly_every_key() {
    let left_to_the_reference = [
        "assistant.system_message",
        "agents.<name>.thinking",
        "agents.<name>.tools.review",
        "security.auto_approval.enabled",
        "security.auto_approval.reviewers",
        "security.auto_approval.timeout_seconds",
        "security.auto_approval.max_per_turn",
        "providers.<name>.headers",
    ];
    let full: toml::Table = example_in_full().parse().unwrap();
    let holds = |section: &str, key: &str| {
        let mut open = vec![&full];
        for part in section.split('.') {
            open = open
                .into_iter()
                .flat_map(|table| match part {
                    "<name>" => table.values().filter_map(toml::Value::as_table).collect::<Vec<_>>(),
                    name => table.get(name).and_then(toml::Value::as_table).into_iter().collect(),
                })
                .collect();
        }
        open.iter().any(|table| table.contains_key(key))
    };
    let mut missing = Vec::new();
    let mut surplus = Vec::new();
    for (section, setting) in every_setting().filter(|(section, _)| !section.ends_with("generation")) {
        let path = format!("{section}.{}", setting.key);
        match (holds(section, setting.key), left_to_the_reference.contains(&path.as_str())) {
            (false, false) => missing.push(path),
            (true, true) => surplus.push(path),
            _ => {}
        }
    }
    assert_eq!((missing, surplus), (Vec::new(), Vec::new()));
}

// ── Disk ──

fn somewhere() -> (tempfile::TempDir, Locations) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("deep/home");
    let locations = Locations { home_variable: Some(home), working_directory: folder.path().into(), ..locations() };
    (folder, locations)
}

#[test]
fn the_first_run_writes_the_example_and_never_replaces_a_file() {
    let (folder, locations) = somewhere();
    let problems = config::load(&locations).unwrap_err();
    assert!(problems.is_missing());
    let shown = problems.to_string().replace(&*folder.path().to_string_lossy(), "");
    insta::assert_snapshot!(shown, @r"
    /deep/home/config.toml: there is no such file
      `kokua config init` writes the shipped one there
    ");

    let path = config::init(&locations).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), config::EXAMPLE);
    config::load(&locations).unwrap();
    assert!(matches!(config::init(&locations), Err(WriteError::Exists(at)) if at == path));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn a_missing_file_that_was_named_says_who_named_it() {
    let (_folder, mut locations) = somewhere();
    locations.config_flag = Some("other.toml".into());
    let said = config::load(&locations).unwrap_err().to_string();
    assert!(said.contains("/other.toml: there is no such file, which --config names"), "{said}");
}

#[test]
fn what_is_no_text_is_said() {
    let (_folder, locations) = somewhere();
    let path = config::init(&locations).unwrap();
    fs::write(&path, b"[display]\n# \xff\n").unwrap();
    let said = config::load(&locations).unwrap_err().to_string();
    assert!(said.contains("is not UTF-8: line 2"), "{said}");
    fs::write(&path, " ".repeat((1 << 20) + 1)).unwrap();
    assert!(config::load(&locations).unwrap_err().to_string().contains("is larger than"));
}

#[test]
fn w1_a_saved_switch_keeps_every_comment_and_the_file_still_loads() {
    let (_folder, locations) = somewhere();
    let path = config::init(&locations).unwrap();
    let names = |names: &[&str]| NewValue::Names(names.iter().map(|name| (*name).to_owned()).collect());
    let config = config::set(&locations, "toolsets.disabled", |_| names(&["misc"]), |_| Vec::new()).unwrap().config;
    assert_eq!(config.declarations.disabled.len(), 1);
    let saved = fs::read_to_string(&path).unwrap();
    assert_eq!(saved, config::EXAMPLE.replace("disabled = [] ", "disabled = [\"misc\"] "));
    assert_eq!(saved, config.source.text);
    config::set(&locations, "toolsets.disabled", |_| names(&[]), |_| Vec::new()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), config::EXAMPLE);
    let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file is left behind");
}

#[test]
fn a14_nothing_is_saved_that_the_next_start_would_refuse() {
    let (_folder, locations) = somewhere();
    let path = config::init(&locations).unwrap();
    let refused = |key: &str, value: NewValue| {
        let error = config::set(&locations, key, |_| value, |_| Vec::new()).unwrap_err().to_string();
        assert_eq!(fs::read_to_string(&path).unwrap(), config::EXAMPLE, "{key}");
        error
    };
    assert!(refused("display.mouse", NewValue::Text("yes".to_owned())).contains("`mouse` must be"));
    assert!(refused("display.mouze", NewValue::Boolean(true)).contains("unknown key"));
    assert!(refused("mouse", NewValue::Boolean(true)).contains("no key inside a table"));
    let check = |config: &Config| vec![fault_at(config, &["toolsets", "disabled"], "nothing installs 'x'")];
    let error = config::set(&locations, "toolsets.disabled", |_| NewValue::Names(vec!["x".to_owned()]), check);
    assert!(error.unwrap_err().to_string().contains("nothing installs 'x'"));
    assert_eq!(fs::read_to_string(&path).unwrap(), config::EXAMPLE);
}

#[test]
fn of_two_that_save_at_once_none_loses_a_write() {
    let (_folder, locations) = somewhere();
    config::init(&locations).unwrap();
    let keys = ["assistant.max_iterations", "assistant.agent_cache_cap", "toolsets.build_timeout_s"];
    std::thread::scope(|scope| {
        for key in keys {
            let locations = &locations;
            scope.spawn(move || {
                for value in 1..=5 {
                    let saved = config::set(locations, key, |_| NewValue::Integer(value), |_| Vec::new());
                    saved.unwrap_or_else(|error| panic!("{key}: {error}"));
                }
            });
        }
    });
    let config = config::load(&locations).unwrap();
    let (assistant, toolsets) = (config.assistant, config.toolsets);
    assert_eq!((assistant.max_iterations, assistant.agent_cache_cap, toolsets.build_timeout_s), (5, 5, 5));
}

/// Each program knew only its own switches and took back the other's.
#[test]
fn w1_a_switch_is_made_of_what_the_file_says_at_that_moment() {
    let (_folder, locations) = somewhere();
    config::init(&locations).unwrap();
    let before = config::load(&locations).unwrap().source.text;
    let off = |name: &'static str| {
        let list = move |config: &config::Config| {
            let names = config.declarations.disabled.iter().map(|word| word.value.to_string());
            NewValue::Names(names.chain([name.to_owned()]).collect())
        };
        config::set(&locations, "toolsets.disabled", list, |_| Vec::new()).unwrap()
    };
    assert_eq!(off("fs").before, before);
    let disabled = off("misc").config.declarations.disabled;
    assert_eq!(disabled.iter().map(|word| word.value.as_str()).collect::<Vec<_>>(), ["fs", "misc"]);
}

#[test]
fn who_never_gets_to_write_is_told_so() {
    let (_folder, locations) = somewhere();
    let path = config::init(&locations).unwrap();
    let folder = fs::File::open(path.parent().unwrap()).unwrap();
    folder.lock().unwrap();
    let error = config::set(&locations, "display.mouse", |_| NewValue::Boolean(true), |_| Vec::new()).unwrap_err();
    assert!(matches!(error, WriteError::Busy(_)) && error.to_string().contains("another kokua is writing"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), config::EXAMPLE);
    drop(folder);
    config::set(&locations, "display.mouse", |_| NewValue::Boolean(true), |_| Vec::new()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_to_the_file_stays_a_link() {
    let (folder, locations) = somewhere();
    let path = config::init(&locations).unwrap();
    let elsewhere = folder.path().join("dotfiles.toml");
    fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    config::set(&locations, "display.mouse", |_| NewValue::Boolean(true), |_| Vec::new()).unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert!(fs::read_to_string(&elsewhere).unwrap().contains("\nmouse = true\n"));
}

#[test]
fn a_message_is_short_of_nothing() {
    assert_eq!(
        message("[agents.a.tools]\navialable = []\n"),
        "config.toml:2:1: unknown key `avialable` in [agents.a.tools]\n  2 | avialable = []\n    | ^^^^^^^^^\n  did \
         you mean 'available'?\n"
    );
}
