"""Studies of the literature, each repeated by one command: what is measured, the page, the verdicts.

The module of a study has `measured(folder, quick, progress)`, its report ready for JSON, and `page(report)`,
the text of its page; further files may be put into the folder.
"""
