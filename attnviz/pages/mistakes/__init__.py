"""Find the mistake: programs of about ten lines, of which one is wrong."""
