"""``mercer play``: a local page where kernels are learned by touching them; every number comes from the library.

A request is a *scene* (:mod:`.scene`): points in the plane, a learner, a kernel and its sliders. One module answers
each address: ``/api/fit`` is :func:`mercer.play.fit.fit`, which takes the body of the request as Python values and
returns those of the answer, or raises ``ValueError`` with one sentence. Who may ask is for :mod:`.guard` to say, and
who computes for :mod:`.server`.

What the page should know beside the shapes of answers: ``/api/choices`` also says whether compiled code is ``ready``,
and has the ``first`` scene where one was named on the command line (an answer of ``/api/data``, or null); a learner's
``cost`` is the slider that ``/api/surface`` takes beside γ, under its own name ("C", "lam" or "nu"); grids include the
edges of their box.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
