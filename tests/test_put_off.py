import subprocess
import sys

import pytest

AFTERWARDS = {
    "nothing of them is there": "assert not {'pandas', 'scipy.stats'} & set(sys.modules)",
    "scipy.stats is itself": "import scipy.stats; assert scipy.stats.norm.cdf(0) == 0.5; assert scipy.stats.__file__",
    "scipy.stats by attribute": "import scipy; assert scipy.stats.norm.cdf(0) == 0.5",
    "pandas is itself": "import pandas as pd; assert pd.DataFrame({'a': [1]}).a.sum() == 1; assert pd.__file__",
}


@pytest.mark.parametrize("then", AFTERWARDS.values(), ids=AFTERWARDS)
def test_what_is_put_off_is_there_when_it_is_asked_for(then):
    subprocess.run([sys.executable, "-c", f"import sys; from mercer import SVC; {then}"], check=True)
