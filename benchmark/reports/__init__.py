"""The report: chosen figures, tables, agreement and analyses of a result set, with all that they rest on, as one file.

`content` reads it into one `Document`; `html` and `pdf` write that. Nothing of the moment is in a file, so that the
same rows and choice give the same bytes.
"""
