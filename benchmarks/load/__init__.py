"""Many visitors at once: what an open and an answer take, and what each costs the server in processor time."""
