"""What the page scaling computes: Config -> run(config) -> Result."""
