"""One file per lesson: `run(Config)` returns a `Result` of NumPy arrays and Messages, which a page draws."""
