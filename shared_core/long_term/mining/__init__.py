"""Procedures out of experience (B7): runs read from what happened, patterns counted in them."""
