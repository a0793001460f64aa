"""Seeded inputs, reference results of 40 digits, and the errors of other results against them."""
