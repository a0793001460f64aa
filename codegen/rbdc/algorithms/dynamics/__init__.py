"""The recursions of dynamics: inverse and forward dynamics, inertia matrices, the regressor."""
