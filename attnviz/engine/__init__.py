"""Where passes through models are made: in this process, or on Ray; the same questions and the same answers."""
