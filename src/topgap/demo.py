"""`make demo`: the mechanism at work on a hospital that is made up on the spot."""

import random

from topgap.mechanism import top_k

PATIENTS = 2_000
SHARES = {
    "High blood pressure": 0.42,
    "High cholesterol": 0.33,
    "Back pain": 0.27,
    "Type 2 diabetes": 0.225,
    "Anxiety": 0.228,
    "Asthma": 0.16,
    "Depression": 0.15,
    "Migraine": 0.12,
    "Arthritis": 0.11,
    "Hypothyroidism": 0.09,
    "Heart failure": 0.05,
    "Psoriasis": 0.03,
}


def count_patients() -> dict[str, int]:
    """Make up the patients, always the same ones, and count those who have each diagnosis."""
    # Only the data are made this way; the noise of the release comes from the operating system.
    made_up = random.Random(2026)
    return {
        diagnosis: sum(made_up.random() < share for _ in range(PATIENTS))
        for diagnosis, share in SHARES.items()
    }


def main() -> None:
    """Release the five most common diagnoses and explain what is seen."""
    counts = count_patients()
    release = top_k(counts, k=5, epsilon=1, monotonic=True)
    parameters = release.parameters
    spread = float(2 * parameters.scale**2) ** 0.5  # standard deviation of a difference

    print(f"""
Which diagnoses are the most common, and by how much, without telling on any patient?

The data: {PATIENTS:,} made-up patients and {len(counts)} diagnoses, the same at each run.
The release: the {parameters.k} most common at ε = {parameters.epsilon}, with new noise at each run.
Each count gets noise of mean {parameters.scale}; a gap is off by about ±{spread:.0f}.

  rank  diagnosis             ahead of the next by   | kept secret: count""")
    winners = release.to_dict()["winners"]
    for rank, winner in enumerate(winners, start=1):
        item, gap = winner["item"], winner["gap"]
        print(f"  {rank:>4}  {item:<20}  {gap:>20}   | {counts[item]:>18}")
    print("""
What is left of the bar may be published: it is ε-differentially private, gaps included, and the
gaps cost nothing extra. What is right of it is shown only because these patients do not exist.
A small gap says that the order of the two is uncertain: run it again and it may be the other way.
""")


if __name__ == "__main__":
    main()
