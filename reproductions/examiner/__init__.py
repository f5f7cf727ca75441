"""An independent examiner of the solvers: random fits, judged from their public attributes alone.

A case is drawn (:mod:`.rows`, :mod:`.similarities`, :mod:`.cases`), fitted in a process of its own (:mod:`.pool`),
read as a list of convex problems with their published answers (:mod:`.readings`), computed anew from definitions in
extended precision (:mod:`.definitions`, :mod:`.tasks`), compared with answers of other methods (:mod:`.references`,
:mod:`.smooth_references`) and judged (:mod:`.verdicts`); :mod:`.report` counts. No loss, Gram or solver of mercer is
used here, and no kernel value but to see how far it is from the definition.
"""
