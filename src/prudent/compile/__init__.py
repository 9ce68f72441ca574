"""How plain Python becomes machine code.

announce.py   what a user notices of compiling: a line on stderr where it takes long
cache.py      digests of code: what must not be found again once it has changed
types.py      how plain Python becomes compiled code
"""
