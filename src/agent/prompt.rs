//! Assembly of an agent's system message: opener, resident guidance in held order, names line (R4).
//!
//! Fixed for an agent's life; nothing rewrites it.
