"""Everything that sees answers: from answers to a release. Internal.

    answers → participants → mechanism → release       all answers at once: `top_k`
    answers → candidate_pool → selector → release      answers that come in parts: `Selector`
    mechanism → measurement → top_k_with_estimates     the winners measured, too
    answers → monitor                                  answers that come one at a time: `Monitor`

`sparse_vector` has the parameters of a monitor, `item_names` the items' names. `check` tells what
would be released, `process` in which process noise was drawn. `arrow_columns` and `arrow_partition`
read answers that come in Arrow's batches, and `candidate_arrow` sends candidates.
"""
