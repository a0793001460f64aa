"""C of several samples side by side."""
