"""What the page Fast attention shows: attention over tiles, what it costs, how it rounds, a cache in blocks."""
