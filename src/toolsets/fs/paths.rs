//! From the path a model wrote to the place it means: relative to the working folder, `~` expanded, symbolic links
//! followed, and inside `[fs].roots` where those are set. Never reads or writes a file's content.

#![expect(clippy::disallowed_methods, reason = "the user's files are looked at here; errors name the path as written")]

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Bytes of a path as written; no system takes more.
const MAX_PATH: usize = 4096;

/// How paths are read.
#[derive(Debug, Clone)]
pub(in crate::toolsets) struct Paths {
    /// What a relative path is relative to.
    base: PathBuf,
    /// Outside these everything is refused; empty: everywhere.
    roots: Vec<PathBuf>,
    /// What `~` stands for.
    user_home: Option<PathBuf>,
}

impl Paths {
    /// Relative to `base`, within `roots`. `~` is `$HOME`.
    pub(in crate::toolsets) fn new(base: &Path, roots: &[PathBuf]) -> Self {
        let user_home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        Self { base: base.to_owned(), roots: roots.to_vec(), user_home }
    }

    /// The real place that `text` means, every link followed; what does not exist yet is added as written. Refused, with
    /// the roots named, when that is outside of all of them: so a link cannot lead out, and nobody outside is told apart.
    pub(in crate::toolsets) fn resolve(&self, text: &str) -> Result<PathBuf, String> {
        if text.trim().is_empty() {
            return Err("path must not be empty".to_owned());
        }
        if text.len() > MAX_PATH {
            return Err(format!("path must not be over {MAX_PATH} bytes, got {}", text.len()));
        }
        let written = self.locate(text);
        let resolved = real(&written);
        if !self.roots.is_empty() {
            let inside = resolved.as_ref().is_ok_and(|path| self.is_inside(path));
            if !inside {
                return Err(self.outside(text));
            }
        }
        resolved.map_err(|reason| format!("Cannot resolve {text}: {reason}"))
    }

    fn is_inside(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| real(&self.base.join(root)).is_ok_and(|root| path.starts_with(root)))
    }

    fn outside(&self, text: &str) -> String {
        let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
        format!("{text} is outside the folders that [fs].roots names: {}.", roots.join(", "))
    }

    fn locate(&self, text: &str) -> PathBuf {
        if let (Some(rest), Some(home)) = (text.strip_prefix('~'), &self.user_home)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return home.join(rest.trim_start_matches('/'));
        }
        self.base.join(text)
    }
}

/// Follows every link of the part of `path` that exists and adds the rest as written.
pub(in crate::toolsets) fn real(path: &Path) -> Result<PathBuf, String> {
    let mut existing = path;
    let mut rest = Vec::new();
    loop {
        match existing.canonicalize() {
            Ok(found) => {
                rest.reverse();
                return Ok(rest.iter().fold(found, |path, name| path.join(name)));
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                // `nowhere/..` names nothing: what comes before the dots does not exist.
                let Some(Component::Normal(name)) = existing.components().next_back() else {
                    return Err("no such folder".to_owned());
                };
                rest.push(name);
                existing = existing.parent().unwrap_or(Path::new("/"));
            }
            Err(error) => return Err(reason(&error)),
        }
    }
}

/// Whether `path` is a folder, or a link to one.
pub(in crate::toolsets) fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// What went wrong, as a lower-case fragment.
pub(in crate::toolsets) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or folder".to_owned(),
        ErrorKind::NotADirectory => "a part of the path is a file, not a folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::InvalidInput => "not a possible path".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(path.join("in/deep")).unwrap();
        std::fs::create_dir(path.join("out")).unwrap();
        std::fs::write(path.join("out/secret"), "s").unwrap();
        (folder, path)
    }

    #[test]
    fn relative_absolute_and_home_paths_mean_one_place() {
        let (_folder, path) = folder();
        let paths = Paths { base: path.join("in"), roots: Vec::new(), user_home: Some(path.clone()) };
        assert_eq!(paths.resolve("deep").unwrap(), path.join("in/deep"));
        assert_eq!(paths.resolve("../out/secret").unwrap(), path.join("out/secret"));
        assert_eq!(paths.resolve("~/out").unwrap(), path.join("out"));
        assert_eq!(paths.resolve("~").unwrap(), path);
        assert_eq!(paths.resolve("~other").unwrap(), path.join("in/~other"));
        assert_eq!(paths.resolve("new/a/b").unwrap(), path.join("in/new/a/b"));
        assert_eq!(paths.resolve("").unwrap_err(), "path must not be empty");
        assert_eq!(paths.resolve("nowhere/../x").unwrap_err(), "Cannot resolve nowhere/../x: no such folder");
        assert!(paths.resolve("a\0b").is_err());
    }

    #[test]
    fn outside_the_roots_is_refused_and_the_roots_are_named() {
        let (_folder, path) = folder();
        let paths = Paths { base: path.join("in"), roots: vec![path.join("in")], user_home: None };
        symlink(path.join("out"), path.join("in/link")).unwrap();
        symlink("link", path.join("in/second")).unwrap();
        for text in ["../out/secret", "../out/absent", "/etc/passwd", "link/secret", "link/new", "second/new", "../inn"]
        {
            let text_out = paths.resolve(text).unwrap_err();
            assert_eq!(
                text_out,
                format!("{text} is outside the folders that [fs].roots names: {}/in.", path.display())
            );
        }
        assert_eq!(paths.resolve("deep/new").unwrap(), path.join("in/deep/new"));
        assert_eq!(paths.resolve(".").unwrap(), path.join("in"));
    }

    #[test]
    fn links_in_a_circle_are_said() {
        let (_folder, path) = folder();
        symlink("b", path.join("a")).unwrap();
        symlink("a", path.join("b")).unwrap();
        let paths = Paths { base: path, roots: Vec::new(), user_home: None };
        assert!(paths.resolve("a/x").unwrap_err().starts_with("Cannot resolve a/x: "));
    }
}
