"""The command `topgap plan`: its help and its examples."""

from topgap.cli.command import Command
from topgap.cli.plan.request import PlanRequest
from topgap.cli.plan.run import run_plan

DESCRIPTION = """Show what k and ε would give, before any ε is spent.

The plan simulates releases of public or made-up counts and compares them with the truth: how
often the list is right, and how large the errors of the counts are. A plan is not private: never
make it from data that must be protected.

Without counts, from only a domain, it shows how many people an item needs to be named.
"""

# Commands fit a terminal of 80 columns as they are; help wraps the sentences between them.
EXAMPLES = r"""
What ten names would be worth this year, from last year's published counts:

topgap plan published.csv --item diagnosis --count patients -k 10

Three values of ε, with a plot:

topgap plan published.csv --item diagnosis --count patients -k 10 \
  --epsilon 0.1 --epsilon 0.5 --epsilon 1 --plot plan.png

A thousand made-up counts, the largest 50,000, where there are no public ones:

topgap plan --zipf 1000 --largest 50000 -k 25 --format csv -o plan.csv

Most of ε for the names, and a person can be replaced by another:

topgap plan published.csv --item diagnosis --count patients -k 10 \
  --selection-share 3/4 --neighbours replace

A domain of 10^12 items and no counts: how many people an item needs to be named, for some ε and
k:

topgap plan --domain-size 10^12 -k 10 -k 25 --epsilon 0.1 --epsilon 1

The same where at most one or five items of each person count:

topgap plan --domain-size 10^12 -k 25 --epsilon 1 --items-per-person 1,5

Contribution bounds to compare. For public baskets or events the plan counts what each bound leaves
out:

topgap plan baskets.dat --public-baskets -k 25 --epsilon 1 \
  --items-per-person 1,2,5,10

topgap plan visits.csv --public-person who --item what -k 25 --epsilon 1 \
  --items-per-person 1,2,5,10

All items above a number, at most 25, with their counts: what it costs, and which threshold is
good:

topgap plan published.csv --item diagnosis --count patients -k 25 \
  --threshold 500 --threshold 1000

A domain as for topgap release; here all codes that were not published have count 0:

topgap plan published.csv --item diagnosis --count patients -k 10 \
  --domain-pattern "[A-Z][0-9]{2}"
"""

NOTES = """
How to read the table: "names, gaps" is what topgap release gives, and "counts too" what it gives
with --estimate. "list right" is the probability that all k named items are the k largest, "order
too" that they are also in the right order, and "of k right" the mean number of named items that
are among the k largest. "error measured" is the error of a count that is measured without the gaps,
and "with gaps" the error after the gaps improved it; both are root mean squares. Where the list is
often wrong, the gaps can make the error larger.

With a domain, "of k empty" is the number of named items that nobody has, and "needed" the number
of people that an item needs to be named with probability 95%, if at most k items have anybody.
With bounds, "median error" and "bias" compare the released counts with those of all items. With a
threshold, the lines below the table explain its columns.

Exit codes: 0 planned; 1 counts or parameters that cannot be used; 2 a command that cannot be
understood; 130 interrupted.
"""

COMMAND = Command(
    name="plan",
    request_type=PlanRequest,
    run=run_plan,
    description=DESCRIPTION,
    examples=EXAMPLES,
    notes=NOTES,
)
