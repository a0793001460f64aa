"""Run-time support of generated modules, and loading them."""
