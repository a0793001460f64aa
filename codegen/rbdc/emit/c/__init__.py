"""C of single samples: functions, expressions, elementary functions, stores, solves by columns."""
