"""Measuring recall on public sets: readers, systems under comparison, scores, and the page that tells them."""
