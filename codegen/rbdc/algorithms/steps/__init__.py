"""Time steps and their derivatives; time derivatives along motions."""
