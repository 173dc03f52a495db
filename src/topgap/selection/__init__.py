"""Everything that sees answers: from answers to a release. Internal.

    answers → participants → mechanism → release       all answers at once: `top_k`
    answers → candidate_pool → selector → release      answers that come in parts: `Selector`
    mechanism → measurement → top_k_with_estimates     the winners measured, too

`item_names` has their names, `check` tells what would be released, `arrow_columns` and
`arrow_partition` read answers that come in Arrow's batches, `candidate_arrow` sends candidates.
"""
