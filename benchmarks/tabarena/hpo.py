"""What a search of TabArena draws: there is little to tune, as the model chooses by itself."""

from __future__ import annotations

from autogluon.common.space import Categorical
from tabarena.utils.config_utils import ConfigGenerator

from .model import MercerModel

search_space = ConfigGenerator(
    model_cls=MercerModel,
    manual_configs=[{}],
    search_space={
        "metric": Categorical("learned", None),
        "kernels": Categorical(("laplacian", "gaussian"), ("laplacian",), ("gaussian",)),
    },
)
