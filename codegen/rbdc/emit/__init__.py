"""From programs to text: C, header, stubs, CMake and manifest, by Jinja templates. This room never imports
CasADi.
"""

VERSION = "0.1.0"
"""Version of rbdc; every generated file names it."""
