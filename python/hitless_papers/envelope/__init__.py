"""The maps of `hitless envelope` as exhibits."""
