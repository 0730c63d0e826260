"""What the page masks computes: Config -> run(config) -> Result."""
