"""The pages of the service: what a person sees of the experiments, and what they can do about them."""
