import numpy as np
import pytest
from scipy import optimize

from mercer import losses

from .cases import LOSSES

MARGINS = np.concatenate([np.linspace(-3, 3, 61) + 0.013, [-50.0, 50.0]])


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
class TestEveryLoss:
    def test_slope_and_curvature_by_finite_differences(self, loss):
        h = 1e-6
        slope = (loss.value(MARGINS + h) - loss.value(MARGINS - h)) / (2 * h)
        np.testing.assert_allclose(loss.slope(MARGINS), slope, rtol=1e-6, atol=1e-8)
        curvature = (loss.slope(MARGINS + h) - loss.slope(MARGINS - h)) / (2 * h)
        np.testing.assert_allclose(loss.curvature(MARGINS), curvature, rtol=1e-6, atol=1e-8)

    def test_is_finite_and_convex_however_large_the_margin(self, loss):
        far = np.array([-1e4, -1e3, 0.0, 1e3, 1e4])
        for function in (loss.value, loss.slope, loss.curvature):
            assert np.isfinite(function(far)).all()
        assert (np.diff(loss.slope(np.linspace(-5, 5, 101))) >= 0).all()
        assert (loss.value(far) >= 0).all()

    def test_conjugate_by_maximisation(self, loss):
        low, high = (max(loss.domain[0], -4.0), min(loss.domain[1], 4.0))
        for s in np.linspace(low, high, 7)[1:-1]:
            best = optimize.minimize_scalar(lambda m, s=s: loss.value(m) - s * m, bounds=(-60, 60), method="bounded")
            assert loss.conjugate(s) == pytest.approx(-best.fun, abs=1e-5)
        outside = [s for s in (loss.domain[0] - 0.1, loss.domain[1] + 0.1) if np.isfinite(s)]
        assert all(np.isinf(loss.conjugate(s)) for s in outside)

    def test_touches_its_conjugate_at_every_slope(self, loss):
        m = np.array([-2.5, -0.5, 0.4, 1.7])
        s = loss.slope(m)
        np.testing.assert_allclose(loss.value(m) + loss.conjugate(s), s * m, atol=1e-12)

    def test_by_name(self, loss):
        assert losses.as_loss(loss.name) == loss
        assert losses.as_loss(loss) is loss


def test_at_the_kinks():
    assert losses.PerceptronLoss().slope(0.0) == -1.0  # a mistake is y·f ≤ 0
    assert losses.Hinge().slope(1.0) == 0.0  # a violation is y·f < 1
    assert losses.SquaredHinge().slope(1.0) == 0.0


def test_smooth_hinge_has_the_printed_values():
    np.testing.assert_allclose(losses.SmoothHinge().value([0, 1, 2]), [1.3133, 0.6931, 0.3133], atol=5e-5)


def test_unknown_loss():
    with pytest.raises(ValueError, match=r"use one of hinge, .*logistic"):
        losses.as_loss("hindge")
