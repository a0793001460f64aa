"""Support for generated modules at run time, and loading one."""
