"""What a test asserts: the tests that tell wrong programs from right ones, in words."""

from attnviz.base.words import N_

HIDDEN = N_("A hidden word weighs nothing, in a row that sees nothing too.")
FUTURE = N_("No word gives weight to a later one.")
ROWS = N_("The weights of each row sum to 1.")
TORCH = N_("PyTorch’s own attention gives the same weights.")
PASS = N_("A few words after a cache get the rows that one full pass gives them.")
PADDED = N_("Padding beside a sentence moves none of its weights.")
GRADIENT = N_("Each parameter gets a gradient.")
TWICE = N_("In evaluation mode the same sentence gets the same weights twice.")
ORDER = N_("Words in another order get other weights.")
SIZES = N_("All sizes are those that were asked for.")
TURNS = N_("Each coordinate is turned.")
FINITE = N_("All weights are finite numbers.")
