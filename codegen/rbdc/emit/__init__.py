"""From programs to text: C, header, stubs, CMake and manifest, by Jinja templates. Only the target `casadi`
imports CasADi, through `rbdc.ir`.
"""

VERSION = "0.1.0"
"""Version of rbdc; every generated file names it."""
