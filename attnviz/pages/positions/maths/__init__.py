"""What the page positions computes: Config -> run(config) -> Result."""
