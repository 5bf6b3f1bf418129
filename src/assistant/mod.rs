//! The driver: owns conversations, live runs and pending asks, and carries out what runs ask for. It knows ports and no adapter.
