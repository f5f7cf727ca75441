"""
Unwanted messages by their words
================================

A message is a string, and strings are compared by what they have in common. The spectrum kernel
counts common words and pairs of words; no table of word counts is ever made. Forty short messages,
written for this page, are enough to see it work.
"""

# %%
# Twenty of each kind.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_predict

from mercer import SVC
from mercer.explain import explain, overview
from mercer.kernels import Normalised, Spectrum

wanted = """\
shall we meet for lunch tomorrow at noon;the minutes of the meeting are in the shared folder
could you read my draft before friday;i am late the train stopped twice
happy birthday see you on sunday;the printer on the second floor works again
do you still need the ladder;thanks for the photos of the garden
our team meets at ten not at nine;can you call me when you are home
the exam is moved to monday;please bring the blue folder to the meeting
i left the keys under the flower pot;dinner is in the oven;how was the concert last night
the draft looks good only two small remarks;are you coming to the match on sunday
the plumber comes on friday at eight;we missed you at lunch today
here are the notes of the lecture
"""
unwanted = """\
you have won a free prize call now;claim your free ticket today only
cheap loans approved in one hour call now;win cash every week text win now
your account is blocked click here to verify;final notice claim your prize today
free entry into our weekly draw;lose weight fast with this one trick
hot offer buy one get one free today only;click here for cheap watches
you were selected for a cash reward;urgent verify your account now
earn money from home no risk;free ringtone reply now to claim;lowest price guaranteed buy now
your parcel is held pay the fee here;win a new phone click here;no risk cash loans reply today
congratulations you are our lucky winner;limited offer claim your free gift now
"""
messages = [
    text for block in (wanted, unwanted) for line in block.splitlines() for text in line.split(";")
]
kinds = np.repeat(["wanted", "unwanted"], 20)

# %%
# Each message is judged by a machine that has not seen it or the other seven of its fold.

machine = SVC(Normalised(Spectrum(p=(1, 2), tokens="words")), C=10)
said = cross_val_predict(machine, messages, kinds, cv=5)
print(f"{np.mean(said == kinds):.0%} of the messages are told right")
machine.fit(messages, kinds)
new = "claim your lunch today"
print(f"\n{new!r}:")
print(explain(machine, new, top=4))

# %%
# What the machine looks at altogether: the words that set the two kinds apart most. In so few
# messages, small words of people who write to somebody they know, such as "the" and "at", tell as
# much as prizes do.

found = sorted(
    overview(machine, messages, kinds, top=16).features, key=lambda each: (each.label, each.value)
)
signed = [each.value if each.label == "unwanted" else -each.value for each in found]
order = np.argsort(signed)
figure, ax = plt.subplots(figsize=(7, 4.2))
colours = ["C1" if signed[k] > 0 else "C0" for k in order]
ax.barh(range(len(order)), [signed[k] for k in order], color=colours)
ax.set_yticks(range(len(order)), [found[k].name for k in order])
ax.axvline(0, color="k", linewidth=0.8)
ax.set(xlabel="← wanted      what it moves the score by      unwanted →")
plt.show()
