"""What the page explore computes: Config -> run(config) -> Result."""
