"""The exhibits of SQR (Qu, Joshi, Chan, Leong, Guo, Liu, ICNP 2019)."""
