"""Versions of the schemas of report.json and benchmark.json.

`report.schema.json` and `benchmark.schema.json` beside this file define every figure.
"""

REPORT_SCHEMA = 1
BENCHMARK_SCHEMA = 1
