"""What TabArena's registry knows of the model."""

from __future__ import annotations

from tabarena.models._method_metadata import MethodMetadata
from tabarena.models._model_info import ModelInfo

from .hpo import search_space
from .model import MercerModel

mercer_method_metadata = MethodMetadata.config(
    method="Mercer",
    ag_key=MercerModel.ag_key,
    compute="cpu",
    is_bag=True,
    can_hpo=True,
    config_default="Mercer_c1_default_BAG_L1",
    date="2026-11-19",
    date_introduced="2026-11-19",
    display_name="Mercer",
    verified=False,
    cache_type="local",
)

mercer_info = ModelInfo(
    model_cls=MercerModel,
    search_space=search_space,
    method_metadata=mercer_method_metadata,
    pip_extra=("mercer>=0.2",),
)
