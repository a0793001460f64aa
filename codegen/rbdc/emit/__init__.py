"""From programs to text: C, header, stubs, CMake, manifest, through Jinja. Never imports CasADi."""

VERSION = "0.1.0"
"""The version of rbdc, which every generated file names."""
