"""The exhibits of LinkGuardian (Joshi et al., SIGCOMM 2023)."""
