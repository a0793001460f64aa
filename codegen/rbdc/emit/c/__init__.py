"""C for single samples: functions, expressions, elementary functions, stores, solves by columns."""
