"""The command `topgap release`: its help and its examples."""

from topgap.cli.command import Command
from topgap.cli.release.request import ReleaseRequest
from topgap.cli.release.run import run_release

DESCRIPTION = """Count, and release the k largest items and the gaps between them.

SOURCE says who has which items. topgap counts the persons of each item of a public domain, each
person once, and names the k largest items with the gap from each to the next, under
ε-differential privacy. With --estimate, --threshold or --items-per-person it also releases how
many persons they have. With --by each public group gets its own list. Nothing else about the data
is revealed.
"""

# Commands fit a terminal of 80 columns as they are; help wraps the sentences between them.
EXAMPLES = r"""
The ten most common diagnoses from a table of visits, with a page to publish:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt -k 10 --epsilon 1 --report diagnoses.html

Without a list: every code that ICD-10 could have, by a pattern:

topgap release visits.parquet --person patient --item diagnosis \
  --domain-pattern '[A-Z][0-9]{2}(\.[0-9]{1,2})?' -k 10 --epsilon 1

Pairs of products that the same people buy, from any numbered products:

topgap release baskets.dat --domain-range 0:999999999 --together 2 \
  -k 10 --epsilon 1

Items of two columns, with a domain for each; texts of at most 20 characters:

topgap release views.csv --person visitor --item country --item page \
  --domain country=countries.txt --domain-strings page=a-z0-9/- \
  --max-length page=20 -k 10 --epsilon 1

One list for each of twenty regions. All lists together cost ε = 1, because each patient counts in
one region:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt --by region --groups regions.txt -k 10 --epsilon 1

A CSV file from a pipe, products numbered 1 to 942, the release as JSON:

zcat baskets.csv.gz | topgap release - --person basket --item product \
  --domain-range 1:942 -k 25 --epsilon 0.5 --format json

A table of a database, where a person can be replaced by another (twice the noise):

topgap release clinic.sqlite --table visits --person patient --item code \
  --domain codes.csv --domain-column code -k 5 --epsilon 1 \
  --neighbours replace

The columns of an Excel sheet, and a release from it with codes typed by hand:

topgap release clinic.xlsx --table visits --list-columns

topgap release clinic.xlsx --table visits --person Patient --item Code \
  --fold-case --domain codes.txt -k 10 --epsilon 1

An export in another encoding:

topgap release visits.csv --encoding windows-1252 --person patient \
  --item diagnosis --domain icd10.txt -k 10 --epsilon 1

Baskets in the FIMI format, one person per line:

topgap release baskets.dat --domain-range 0:999 -k 25 --epsilon 1

Precomputed counts:

topgap release counts.csv --item page --count people --domain pages.txt \
  -k 3 --epsilon 0.1

A hundred million precomputed counts; each row is an item of the public list:

topgap release counts.parquet --item page --count people --all-rows \
  -k 10 --epsilon 1

How many as well: estimates with their standard errors and 99% intervals:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt -k 10 --epsilon 1 --estimate --level 0.99

At most two diagnoses per patient, so that the noise does not grow with the list. Noisy counts are
released too, and all items that reach 50 are named:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt --items-per-person 2 --threshold 50 --epsilon 1

All items with more than 500 patients, at most 25, and how many patients each has. If fewer are
above 500, less than ε is spent:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt -k 25 --threshold 500 --epsilon 1

A release charged to a ledger, which adds up ε for the data set:

topgap budget init budget.db --dataset visits --epsilon 3

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt -k 10 --epsilon 1 --ledger budget.db --dataset visits

A dry run of it, which draws and charges nothing:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt -k 10 --epsilon 1 --ledger budget.db --dataset visits \
  --check
"""

NOTES = """
Each run on the same data adds its ε to what was spent before. Without a ledger nothing adds it
up.

Exit codes: 0 released, or checked; 1 data or parameters that cannot be used, or not confirmed; 2
a command that cannot be understood; 130 interrupted.
"""

COMMAND = Command(
    name="release",
    request_type=ReleaseRequest,
    run=run_release,
    description=DESCRIPTION,
    examples=EXAMPLES,
    notes=NOTES,
)
