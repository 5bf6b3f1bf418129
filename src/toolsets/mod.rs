//! Built-in toolsets, one file each. None of them asks anybody or knows who holds it.
