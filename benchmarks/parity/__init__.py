"""How far evalcore's values are from those of other tools, on real data.

cases        data sets: runs with their judgments, and what is changed in them
tools        other programs: what each is given and asked, and evalcore's side of it
comparison   differences and their reasons
page         docs/parity.md
__main__     the command line
"""
