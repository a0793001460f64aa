"""Passes that put operations side by side into the lanes of vectors."""
