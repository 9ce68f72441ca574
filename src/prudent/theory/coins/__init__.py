"""The minimax regret of two coins, between two ends that exact arithmetic proves (docs: minimax).

bernstein.py   the largest value of a polynomial on the unit square
checker.py     a certificate checked in whole numbers; standard library alone, may be copied
game.py        priors on pairs of coins, their best responses, and the regret of these
minimax.py     the value, the mixture of policies that attains it and the least favourable prior
search.py      how they are found: best responses and a linear program
"""
