"""Show a comparison as data, as a page, on the terminal, and against an earlier report."""
