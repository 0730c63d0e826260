"""What the page sharing computes: Config -> run(config) -> Result."""
