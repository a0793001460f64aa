"""Support for generated modules at run time, and the loader of packages."""
