"""The Python of a package: module, stubs, readme."""
