"""Handlers of XLA's foreign functions, by which JAX calls a package."""
