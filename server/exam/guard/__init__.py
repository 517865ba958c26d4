"""What the examiner may say, enforced in code on the text before it is spoken.

Two screens, one for each task, that share no rule of conduct: :class:`PassiveScreen` (task 2) lets no question pass,
:class:`RelanceScreen` (task 1) lets exactly one pass. Rules are tables, each row with its reason; ``docs/guards.md``
says what is lost by them.
"""

from server.exam.guard.passive import PassiveScreen
from server.exam.guard.questions import is_question
from server.exam.guard.relance import RelanceScreen
from server.exam.guard.text import Language, word_count

__all__ = ["Language", "PassiveScreen", "RelanceScreen", "is_question", "word_count"]
