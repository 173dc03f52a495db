"""The accuracy of estimates, intervals and generated baskets, and the speed of plans."""
