//! Conversation logs on disk. Derived data is never the truth.
