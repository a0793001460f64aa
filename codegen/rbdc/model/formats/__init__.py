"""Readers of the formats of descriptions. Each returns links and joints."""
