"""The server: the table of pages, navigation and middleware."""
