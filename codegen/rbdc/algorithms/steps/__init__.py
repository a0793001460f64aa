"""Steps of time and their derivatives."""
