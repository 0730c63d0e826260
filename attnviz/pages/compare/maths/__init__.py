"""What the page compare computes: Config -> run(config) -> Result."""
