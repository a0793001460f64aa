"""Peers in C++: Pinocchio from its pip package and compiled from its headers, and CppADCodeGen."""
