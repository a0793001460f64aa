"""Dynamics of trees with contacts and closed loops."""
