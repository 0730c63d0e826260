"""What a visitor chooses, kept in the link: declared once, read and written from there."""
