"""What the page build computes: Config -> run(config) -> Result."""
