"""Jinja templates of everything that rbdc generates."""
