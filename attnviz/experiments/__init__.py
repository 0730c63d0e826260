"""One file per lesson: Config -> run(config) -> Result of NumPy arrays and message ids."""
