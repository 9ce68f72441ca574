"""The verdict on every claim, and the mutants (`claim_mutants`) on which it falls: measured with three random seeds."""

from prudent.paper.claims.ledger import CORRECTED, FAILS, HOLDS, LATER, PART

LEDGER: dict[str, tuple[str, str]] = {
    "inverse_of_aversion": (HOLDS, "ρ + 1; 2ρ; −ρ; σ for σ²"),
    "rho_zero": (HOLDS, "ρ + 1"),
    "rho_infinite": (HOLDS, "ρ + 1; 2ρ; −ρ; σ for σ²; configurations"),
    "decomposition": (
        HOLDS,
        "gap × n^−0.1; twins added; regret = gap; regret = 0.1; regret × n^−0.1; mean = best mean; σ for σ²",
    ),
    "twins_negative": (PART, "worst arm; twins added; exploration × −1"),
    "twins_rate": (HOLDS, "A₁: one arm; twins added; exploration × 2; exploration × −1"),
    "exploration_is_variance": (HOLDS, "exploration × 2; exploration × −1"),
    "single_arm": (HOLDS, "A₂: in turn"),
    "exploration_peak": (PART, "exploration × −1"),
    "regret3": (HOLDS, "gap ↔ exploration; gap × n^−0.1; exploration × −1; forms alike"),
    "definition_3": (
        HOLDS,
        "A₁: one arm; gap ↔ exploration; gap × n^−0.1; definition 3 × 1.1; gap of definition 3 × 1.1",
    ),
    "lemma_1": (HOLDS, "bounds / 20; bounds × 100"),
    "biased": (HOLDS, "worst arm; forms alike; pseudo-regret = regret"),
    "differences": (PART, "worst arm; in turn; width × 3; pseudo-regret = regret; regret = 0.1"),
    "lemma_2": (HOLDS, "2ρ; −ρ; lemma 2 / 2; event / 3"),
    "event": (HOLDS, "event / 3; failure / 1,000"),
    "variance_bound": (HOLDS, "index adds"),
    "becomes_ucb1": (PART, "index = ucb1's"),
    "pulls": (HOLDS, "worst arm; in turn; width × 3; bounds / 20; bounds / 5; corrected / 20; ρ + 1; −ρ"),
    "theorem_1_probability": (HOLDS, "worst arm; in turn; width × 3; bounds / 20; bounds × 100; ρ + 1; −ρ"),
    "theorem_1": (HOLDS, "worst arm; in turn; width × 3; bounds / 20; bounds × 100; ρ + 1; −ρ"),
    "corollary_holds": (HOLDS, "worst arm; in turn; regret = 0.1; bounds × 100"),
    "pseudo_regret_range": (HOLDS, "2ρ; 2 + ρ / 2"),
    "regret_range": (HOLDS, "ρ + 1; 2ρ; σ for σ²; 1/4 + ρ / 2"),
    "remark_1": (HOLDS, "worst arm; in turn; width / 20; exploration × −1; regret = 0.1"),
    "equal_means_bound": (HOLDS, "bounds / 20; bounds / 5; bounds × 100; bounds × 1.1; ρ + 1; σ for σ²"),
    "remark_2": (
        HOLDS,
        "worst arm; exploration × 2; exploration × −1; regret = gap; regret = 0.1; regret × n^−0.1; ρ + 1; σ for σ²",
    ),
    "remark_2_index": (CORRECTED, "lemma 2 / 2; lemma 2 × 0.9; index as corrected; event / 3; index adds"),
    "remark_2_many": (
        HOLDS,
        "worst arm; width / 20; gap ↔ exploration; exploration × 2; exploration × −1; regret = gap; regret = "
        "0.1; regret × n^−0.1; mean = best mean; ρ + 1; 2ρ; −ρ; σ for σ²",
    ),
    "ucb_worst_case": (HOLDS, "worst arm; width / 20; regret × n^−0.1; ρ + 1; 2ρ; −ρ; σ for σ²"),
    "theorem_2": (HOLDS, "exp-exp: in turn; exp-exp: mv-lcb; bounds / 20; bounds × 100; ρ + 1"),
    "theorem_2_any_rho": (
        CORRECTED,
        "exp-exp: worst arm; exp-exp: in turn; exp-exp: blind to means; exp-exp: mv-lcb; exploration × −1; forms "
        "alike; pseudo-regret = regret; bounds / 20; bounds × 100; bounds × 1.1; corrected / 20; −ρ",
    ),
    "tau_and_gap": (
        HOLDS,
        "exp-exp: worst arm; exp-exp: in turn; exp-exp: no options; exp-exp: mv-lcb; gap ↔ exploration",
    ),
    "tau_and_exploration": (
        HOLDS,
        "exp-exp: worst arm; exp-exp: in turn; exp-exp: no options; exp-exp: mv-lcb; gap ↔ exploration; "
        "exploration × −1",
    ),
    "worse_on_easy": (
        LATER,
        "worst arm; in turn; width / 20; width × 3; exp-exp: worst arm; exp-exp: in turn; exploration × −1; "
        "regret = 0.1",
    ),
    "log_rate": (HOLDS, "worst arm; in turn; width / 20; width × 3; regret = 0.1; regret × n^−0.1"),
    "better_exploration": (
        HOLDS,
        "exp-exp: worst arm; exp-exp: in turn; exp-exp: no options; exp-exp: mv-lcb; regret = 0.1; ρ + 1; 2ρ",
    ),
    "wrong_arm": (HOLDS, "exponent × 6"),
    "exploring_part": (
        CORRECTED,
        "exp-exp: worst arm; exp-exp: in turn; exp-exp: mv-lcb; gap ↔ exploration; exploration × 2; "
        "exploration × −1; forms alike; 2τ/n × 2; τ with 4 for 14",
    ),
    "worst_gap": (HOLDS, "worst gap × 2"),
    "worst_regret": (HOLDS, "2τ/n × 2; worst regret × 0.7"),
    "appendix_tau": (HOLDS, "worst regret × 1.4; best τ × 2"),
    "appendix_bound": (HOLDS, "exp-exp: in turn; exp-exp: mv-lcb; bounds / 20; bounds / 5; bounds × 100; ρ + 1"),
    "tends_to_zero": (HOLDS, "worst arm; in turn; width × 3; exploration × −1; regret = 0.1"),
    "same_rate": (LATER, "in turn; width / 20; width × 3; gap × n^−0.1"),
    "figure_2_arms": (HOLDS, "worst arm; in turn; bounds / 20; bounds × 100; ρ + 1; event / 3; failure / 1,000"),
    "sub_gaussian": (CORRECTED, "event / 3; failure / 1,000"),
    "equal_means": (HOLDS, "width / 20; gap ↔ exploration; gap × n^−0.1; regret = 0.1; regret × n^−0.1; σ for σ²"),
    "constant_worst_case": (
        HOLDS,
        "worst arm; width / 20; exploration × 2; exploration × −1; regret = gap; regret = 0.1; regret × "
        "n^−0.1; ρ + 1; σ for σ²",
    ),
    "decreasing_worst_case": (HOLDS, "exp-exp: in turn; exp-exp: mv-lcb; exploration × −1; regret = 0.1; ρ + 1"),
    "faster_on_simple": (
        LATER,
        "worst arm; in turn; width × 3; exp-exp: in turn; exp-exp: mv-lcb; exploration × −1; regret = 0.1",
    ),
    "equivalent_arms": (
        HOLDS,
        "worst arm; width / 20; exp-exp: worst arm; exp-exp: in turn; exp-exp: mv-lcb; regret = 0.1; regret × "
        "n^−0.1; ρ + 1",
    ),
    "dominated": (HOLDS, "configurations"),
    "more_complex": (FAILS, "configurations"),
    "approach": (
        HOLDS,
        "worst arm; in turn; width / 20; width × 3; exp-exp: worst arm; exp-exp: in turn; regret = 0.1; mean "
        "= best mean; ρ + 1",
    ),
    "easy_configuration": (
        LATER,
        "worst arm; in turn; width / 20; width × 3; exp-exp: worst arm; exp-exp: in turn; exp-exp: mv-lcb; "
        "exploration × 2; regret = 0.1; mean = best mean; ρ + 1; 2ρ; −ρ",
    ),
    "hard_configuration": (HOLDS, "worst arm; in turn; width × 3; exp-exp: worst arm; exp-exp: in turn; regret = 0.1"),
    "in_turn": (
        HOLDS,
        "A₁: one arm; exploration × 2; exploration × −1; regret = gap; regret = 0.1; regret × n^−0.1; largest "
        "regret / 2; ρ + 1; σ for σ²",
    ),
    "one_arm": (HOLDS, "A₂: in turn; regret = 0.1; mean = best mean; ρ + 1"),
    "small_standard_regret": (FAILS, "mean = best mean"),
    "runs_and_run": (HOLDS, "A₁: one arm; exploration × 2; exploration × −1"),
    "intrinsically_harder": (HOLDS, "exp-exp: in turn; exp-exp: mv-lcb; regret × n^−0.1; exploration × −1"),
    "conclusions_rate": (HOLDS, "worst arm; in turn; exploration × −1; regret = 0.1"),
    "exp_exp_rate": (HOLDS, "exp-exp: in turn; exp-exp: mv-lcb; regret = 0.1; regret × n^−0.1; ρ + 1"),
    "better_worst_case": (PART, "least worst case × 3"),
    "gaussianity": (HOLDS, "ρ + 1; 2ρ; −ρ; σ for σ²"),
    "not_monotone": (HOLDS, "ρ + 1; 2ρ; σ for σ²"),
    "symmetric": (HOLDS, "semivariance = variance"),
    "quantile_is_harder": (HOLDS, "quantile = 1/2"),
    "var_not_coherent": (HOLDS, "var = cvar; quantile = 1/2"),
    "cvar_coherent": (HOLDS, "cvar = var"),
    "multi_period": (HOLDS, "σ for σ²"),
    "best_over_rounds": (HOLDS, "periods add up"),
    "arrow_pratt": (HOLDS, "ρ + 1; 2ρ; −ρ; σ for σ²"),
    "commented_bernstein": (FAILS, "comment subtracts"),
    "commented_pulls": (HOLDS, "worst arm; in turn; width × 3; bounds / 20; ρ + 1; −ρ"),
    "comparison_with_ucb": (HOLDS, "bounds / 20; bounds / 5; bounds × 100; bounds × 1.1; 2ρ"),
    "constant_of_theorem_2": (FAILS, "worst regret × 0.7"),
    "best_sequences": (HOLDS, "sequences add up; sequences are squares"),
}
