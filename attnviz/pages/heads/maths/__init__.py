"""What the page heads computes: Config -> run(config) -> Result."""
