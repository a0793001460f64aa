"""Studies of the literature, each repeated by one command: the measurement, the page, the verdicts.

The module of a study has `measured(folder, quick, progress)`, which returns its report ready for JSON, and
`page(report)`, which returns the text of its page. A study may write further files into the folder.
"""
