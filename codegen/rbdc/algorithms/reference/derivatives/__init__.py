"""Derivatives of dynamics and of frames' motions as the literature has them."""
