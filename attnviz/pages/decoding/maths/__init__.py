"""What the page decoding computes: Config -> run(config) -> Result."""
