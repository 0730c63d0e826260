"""What knows the pages: their table, the navigation, the server around them."""
