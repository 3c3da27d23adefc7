"""The exhibits of RIMM (Lin, Hung and Wen, IEEE Access 2022)."""
