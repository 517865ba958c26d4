"""Speaker labels at the head of a line: the examiner's own, which is not spoken, and the candidate's."""

from __future__ import annotations

import re

from server.exam.guard.grammar import one_of
from server.exam.guard.text import composed, fold

_OWN = one_of(
    "examinateur examinatrice examiner interviewer intervieweur assistante? ia ai bot chatbot system système "
    "vendeur vendeuse employée? agente? conseiller conseillère réceptionniste propriétaire bailleur directeur "
    "directrice organisateur organisatrice bibliothécaire garagiste moniteur monitrice animateur animatrice "
    "guide amie? seller salesperson clerk agent receptionist landlord owner librarian mechanic manager friend "
    "réponse response answer reply question relance follow-up(?:_question)? sortie output"
)
_OTHER = one_of(
    "candidate? cliente? customer user utilisateur utilisatrice humain human caller student étudiante? élève "
    "visiteur visitor interviewee vous moi you me"
)
_OWN_LABEL = re.compile(rf"(?:(?:le|la|l'|the|your|votre|ma|my) )?{_OWN}(?: (?:de |du |des |d' |of )?\w+)?|[abqr]")
_OTHER_LABEL = re.compile(rf"(?:(?:le|la|l'|the) )?{_OTHER}(?: \d)?")
_BEFORE_COLON = re.compile(r"^\W*([^\W\d][^:\n]{0,29}?)[\s*_]*:(?!\d)[\s*_]*")


def unlabelled(text: str) -> str:
    """Return ``text`` without the label of the examiner, or of the part that it plays, at its head."""
    found = _BEFORE_COLON.match(text)
    return text[found.end() :] if found and _OWN_LABEL.fullmatch(fold(found[1])) else text


def speaks_for_other(sentence: str) -> bool:
    """Whether ``sentence`` is labelled as the candidate's: the model goes on to write both sides of the dialogue."""
    found = _BEFORE_COLON.match(composed(sentence))
    return found is not None and _OTHER_LABEL.fullmatch(fold(found[1])) is not None
