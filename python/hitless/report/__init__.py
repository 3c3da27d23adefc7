"""Reports: one HTML file that opens offline."""
