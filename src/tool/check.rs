//! Health checks with their cache (W2): answers are kept 30 s, a check that fails to answer keeps the last one.
