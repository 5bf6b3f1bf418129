//! Model wires: pure encoders and decoders, and the one place that talks to a model server.
