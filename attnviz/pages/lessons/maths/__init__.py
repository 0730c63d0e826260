"""What the page lessons computes: Config -> run(config) -> Result."""
