"""Derivatives of dynamics and of frames' motions, as matrices and as products with vectors."""
