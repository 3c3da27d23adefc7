"""`hitless bench live`: throughput and delay of real traffic through a live switch."""
