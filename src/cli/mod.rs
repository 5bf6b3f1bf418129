//! One file per command. Nothing here decides anything about access.
