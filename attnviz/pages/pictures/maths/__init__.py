"""What the page pictures computes: Config -> run(config) -> Result."""
