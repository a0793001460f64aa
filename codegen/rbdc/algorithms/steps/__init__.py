"""Steps of time and their derivatives; time derivatives along motions."""
