"""External functions of CasADi, in C."""
