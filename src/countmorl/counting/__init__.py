"""How often was a state-action pair seen? Codes, exact tables of codes, and count estimates."""
