"""From programs to text: C, header, stubs, CMake, manifest, through Jinja. Never imports CasADi."""
