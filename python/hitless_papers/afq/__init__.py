"""The exhibits of AFQ (Sharma, Liu, Atreya, Krishnamurthy, NSDI 2018)."""
