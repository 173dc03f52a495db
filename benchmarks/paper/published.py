"""What the paper reports in its section on experiments, as it is printed there.

Each name is a table's caption. k runs over `KS`, times are milliseconds.
"""

KS = (25, 50, 100, 200, 400, 800)

# Statistics of datasets: records, and items.
DATASETS = {
    "T40I10D100K": (100_000, 942),
    "BMS-POS": (515_597, 1_657),
    "Kosarak": (990_002, 41_270),
}

# Running time: the means of 1,000 runs.
TIMES = {
    "T40I10D100K": {
        "Secure": (10.53, 10.80, 11.64, 13.95, 19.80, 25.89),
        "Opt. Secure": (10.59, 10.64, 10.83, 11.51, 14.74, 23.70),
        "Baseline": (2.25, 2.24, 2.27, 2.32, 2.38, 2.52),
    },
    "BMS-POS": {
        "Secure": (18.51, 18.51, 19.03, 22.11, 35.21, 48.72),
        "Opt. Secure": (18.43, 18.47, 18.56, 19.11, 22.85, 33.09),
        "Baseline": (3.92, 3.91, 3.96, 3.99, 4.06, 4.20),
    },
    "Kosarak": {
        "Secure": (458.22, 459.45, 482.02, 575.38, 976.72, 1223.04),
        "Opt. Secure": (455.32, 455.17, 454.89, 455.59, 459.73, 471.30),
        "Baseline": (98.71, 97.53, 97.38, 98.69, 98.95, 99.03),
    },
}

# Detailed time for the optimized secure algorithm: the means of 100 runs.
PARTS = {
    "T40I10D100K": {
        "possible top-k": (10.921, 10.530, 10.500, 10.457, 10.527, 10.555),
        "resolve ties": (0.005, 0.017, 0.190, 0.622, 3.813, 11.573),
        "find gaps": (0.049, 0.081, 0.154, 0.300, 0.599, 1.192),
    },
    "BMS-POS": {
        "possible top-k": (18.475, 18.294, 18.261, 18.199, 18.159, 18.188),
        "resolve ties": (0.005, 0.023, 0.057, 0.288, 4.092, 14.187),
        "find gaps": (0.045, 0.081, 0.154, 0.302, 0.598, 1.181),
    },
    "Kosarak": {
        "possible top-k": (461.56, 457.82, 457.371, 458.721, 456.256, 459.552),
        "resolve ties": (0.008, 0.012, 0.074, 0.744, 5.077, 15.586),
        "find gaps": (0.080, 0.114, 0.186, 0.340, 0.618, 1.218),
    },
}

# Statistics on function invocations during a single execution: Kosarak, k = 800.
CALLS = {"geometric": 42_874, "bernoulli": 303_216, "uniform": 369_613, "argsort": 3}

# The same profile as the authors published it, output/cprof/kosarak.cprof.json in the repository
# zeyudding/secure-noisymax at commit 6edb5c0, has these calls besides.
PUBLISHED_CALLS = {"bernoulli_exp": 140_259}


def implied_rounds(name: str, k: int) -> float:
    """How many rounds of tie-breaking the paper's times of the unpruned algorithm amount to.

    It draws for all answers in every round, and so does the first part in the one before.
    """
    at = KS.index(k)
    drawing = TIMES[name]["Secure"][at] - PARTS[name]["find gaps"][at]
    return drawing / PARTS[name]["possible top-k"][at] - 1
