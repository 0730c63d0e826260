"""What the page home computes: Config -> run(config) -> Result."""
