//! Clock, ids, files with their path in every error, locks, logging, panic. Nothing here knows an agent.
