"""Made-up patients: who had which diagnosis, in which region. The same at each run."""

import random
from collections import Counter

PATIENTS = 24_000
DIAGNOSES = {
    "I10": "Hypertension", "E78": "High cholesterol", "M54": "Back pain", "J06": "Common cold",
    "E11": "Type 2 diabetes", "F32": "Depression", "K21": "Reflux", "J45": "Asthma",
    "G43": "Migraine", "M17": "Arthrosis of the knee", "E03": "Underactive thyroid",
    "N39": "Urinary tract infection", "I25": "Coronary heart disease", "J20": "Bronchitis",
    "L20": "Eczema", "I48": "Atrial fibrillation", "J44": "COPD", "K29": "Gastritis",
    "M81": "Osteoporosis", "H10": "Conjunctivitis", "D50": "Iron deficiency", "F41": "Anxiety",
    "N18": "Chronic kidney disease", "J30": "Hay fever", "M10": "Gout", "B02": "Shingles",
    "G47": "Sleep disorder", "K80": "Gallstones", "S93": "Sprained ankle",
    "H66": "Middle ear infection",
}  # fmt: skip
"""The codes and their names."""

REGIONS = {"North": 9, "East": 7, "South": 6, "West": 4, "Islands": 1}
"""A region and its share of the patients."""

# What is more common in a region than elsewhere, and how many times.
LOCAL = {"Islands": {"J30": 9.0, "H10": 6.0}, "West": {"J44": 5.0}, "South": {"M10": 6.0},
         "East": {"L20": 4.0}}  # fmt: skip


def count_patients() -> dict[str, Counter[str]]:
    """How many patients of each region had each diagnosis; one has one to four of them."""
    generator = random.Random(27)
    counts = {region: Counter[str]() for region in REGIONS}
    weights = {
        region: [
            LOCAL.get(region, {}).get(diagnosis, 1.0) / (rank + 2)
            for rank, diagnosis in enumerate(DIAGNOSES)
        ]
        for region in REGIONS
    }
    for region in generator.choices([*REGIONS], [*REGIONS.values()], k=PATIENTS):
        drawn = generator.choices([*DIAGNOSES], weights[region], k=generator.randint(1, 4))
        counts[region].update({*drawn})
    return counts
