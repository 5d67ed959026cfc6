"""What programs took, and what bounds them."""
