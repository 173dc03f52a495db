"""The command `topgap plan`: its help and its examples."""

from topgap.cli.command import Command
from topgap.cli.plan.request import PlanRequest
from topgap.cli.plan.run import run_plan

DESCRIPTION = """Tell what k and ε would give, before any ε is spent.

Releases of public or made-up counts are simulated and held against the
truth: how often the list is right, and how far off the counts are. What a
plan tells is not private: never make it from data to be protected.

Without counts, from a domain alone: how many people an item needs to be named.
"""

# Lines that fit a terminal of 80 columns as they are: Rich would break them anywhere.
EXAMPLES = r"""
[bold]Examples[/bold]

Last year's published counts, and what ten names would be worth this year:

topgap plan published.csv --item diagnosis --count patients -k 10

Three values of ε, with a plot:

topgap plan published.csv --item diagnosis --count patients -k 10 \
  --epsilon 0.1 --epsilon 1/2 --epsilon 1 --plot plan.png

No public counts: a thousand made-up ones, of which the largest is 50,000:

topgap plan --zipf 1000 --largest 50000 -k 25 --format csv -o plan.csv

Most of ε for the names, and a person may be replaced by another:

topgap plan published.csv --item diagnosis --count patients -k 10 \
  --selection-share 3/4 --neighbours replace

A domain of 10^12 items, and no counts: what an item needs to be named, for
some ε and k:

topgap plan --domain-size 10^12 -k 10 -k 25 --epsilon 0.1 --epsilon 1

The same where at most one or five items of each person count:

topgap plan --domain-size 10^12 -k 25 --epsilon 1 --items-per-person 1,5

Contribution bounds, where people have few items: which L, if any? Of public
baskets, or events, it counts what each bound leaves out:

topgap plan baskets.dat --public-baskets -k 25 --epsilon 1 \
  --items-per-person 1,2,5,10

topgap plan visits.csv --public-person who --item what -k 25 --epsilon 1 \
  --items-per-person 1,2,5,10

All items above a number, at most 25, and how many people each has: what does
it cost, and which threshold is good?

topgap plan published.csv --item diagnosis --count patients -k 25 \
  --threshold 500 --threshold 1000

The domain as for topgap release; here all but the published codes have 0:

topgap plan published.csv --item diagnosis --count patients -k 10 \
  --domain-pattern "[A-Z][0-9]{2}"

How to read it: "names, gaps" is what topgap release gives, "counts too" what
it gives with --estimate. "list right" is the chance that all k named are the
k largest, "order too" that they are in the right order, "of k right" how
many of them are, on average. "error measured" is how far off a count is when
it is measured alone, "with gaps" when the gaps have made it better: roots of
mean squares. Where the list is often wrong, the gaps can make it worse. With
a domain, "of k empty" is how many of the named are items that nobody has, and
"needed" how many people an item needs to be named with probability 95%, if at
most k items have anybody. With bounds, "median error" and "bias" are how far
released counts are from those of all items: half of them by less than the
median, and all on average by the bias. With a threshold the lines below the
table say what its columns are.

Exit codes: 0 planned; 1 counts or parameters that cannot be used;
2 a command that cannot be understood; 130 interrupted.
"""

COMMAND = Command(
    name="plan",
    request_type=PlanRequest,
    run=run_plan,
    description=DESCRIPTION,
    epilog=EXAMPLES,
)
