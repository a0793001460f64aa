"""The formats of descriptions, each read to the links and joints that it has."""
