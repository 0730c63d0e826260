"""A class's room: its state on the disk, and the web sockets of its phones and of its wall."""
