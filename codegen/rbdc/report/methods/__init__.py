"""The ways of computing a function that a comparison compiles, and the records of what takes part."""
