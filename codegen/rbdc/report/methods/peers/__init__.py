"""Peers in C++: Pinocchio as its pip package has it and compiled from its headers, and CppADCodeGen."""
