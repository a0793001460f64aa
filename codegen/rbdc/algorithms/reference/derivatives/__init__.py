"""Derivatives of dynamics and of frames' motions in the form of the literature."""
