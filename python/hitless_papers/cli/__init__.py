"""Commands about papers: `hitless reproduce`, `hitless envelope` and `hitless results`."""
