"""Whether a model can really be asked: what a connection test sends, and what its replies prove. No Django.

`sight` draws the picture and judges what was seen; `steps` says what is asked next; `refusals` finds the
setting that a model refused; `checks` turns the calls into rows, each with a sentence of what to do.
"""
