"""The English rules: clause by clause, from what is said to subject, predicate and object."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from shared_core.writing.extraction import english_words as w
from shared_core.writing.extraction import times
from shared_core.writing.extraction.clauses import sentences
from shared_core.writing.extraction.english_be import being, having, special
from shared_core.writing.extraction.english_clauses import (
    LEFT_OUT,
    UNLIKELY,
    UNREAL,
    Predication,
    Subject,
    clauses,
    parts,
    predication,
    spelled_out,
    subject,
)
from shared_core.writing.extraction.english_objects import READERS
from shared_core.writing.extraction.english_phrases import Said, is_name, sound, tidy
from shared_core.writing.extraction.extracted import (
    ASSISTANT,
    EVENT,
    LEARNED_RULE,
    PROJECT_CONTEXT,
    USER,
    USER_FACT,
    Extracted,
    importance,
)

_NEGATABLE: Final = frozenset(
    "likes eats drinks uses owns speaks plays lives_in works_at works_as works_in allergic_to has_family practises"
    " member_of from is_a diet pet".split()
)
_THIRD_OK: Final = frozenset({"plans"})


@dataclass(slots=True)
class _Talk:
    """What the clauses of one message share."""

    at: datetime
    speaker: str
    explicit: bool = False
    found: list[Extracted] = field(default_factory=list)
    antecedent: Subject | None = None


_NAMES_AFTER: Final = re.compile(
    r"\b((?:live[ds]? in|living in|moved to|from|work(?:s|ed|ing)? (?:at|for)|name is|called|named|visited|been to|born in|speak)"
    r" )((?!(?:a|an|the|my|our|home|here|there|peace|fear|now|time|scratch|day|work|school|me|it|this|that)\b)[a-z]+)"
)


def english(text: str, at: datetime, speaker: str | None) -> list[Extracted]:
    """The facts of an English text that is already cut down to what was said in earnest."""
    talk = _Talk(at, speaker or USER)
    if text.islower():  # typed without capitals: names are told by the words before them
        text = _NAMES_AFTER.sub(lambda m: m[1] + m[2].title(), text)
    for sentence, asks in sentences(text):
        _sentence(spelled_out(sentence), asks, talk)
    return talk.found


# ---------------------------------------------------------------------- sentences

_REMEMBER: Final = re.compile(
    r"^(?:(?:please|hey|ok|okay|also|and|can you|could you|i want you to|i need you to|you should|just|so|now)[, ]+)*"
    r"(?P<wish>(?:remember|note to self|note|keep in mind|do not forget|(?:make|take)(?: a| this)? note|write down|save this|memori[sz]e|for the record|for future reference)"
    r"(?:\s+(?:that|this|down))*)\s*[:,]?\s+(?!when\b|how\b|me\b|us\b|the time\b|the first\b|the last\b|what\b|where\b|those\b|that time\b|who\b|why\b|if\b|it\b)(?P<told>.+)$",
    re.IGNORECASE | re.DOTALL,
)
# What can't stand without the words before it: "a note about the deploy" is no note "about the deploy".
_HEADLESS: Final = re.compile(
    r"(?:about|on|of|for|from|to|with|in|at|by|as|regarding|concerning|re)\b(?!\s*:)", re.IGNORECASE
)
_RULE_VERB: Final = (
    r"(?:answer|reply|respond|use|include|add|suggest|recommend|mention|keep|avoid|be|give|explain|format|start|end|ask|speak|talk"
    r"|write|show|call|cite|translate|summari[sz]e|apologi[sz]e|assume|offer|provide|put|send|stop|skip)"
)
_RULE: Final = re.compile(
    r"^(?:(?:please|also|and|ok|okay|so)[, ]+)*(?:"
    rf"(?P<always>(?:(?:from now on|in (?:the )?future|going forward|henceforth)[, ]+)?(?:please )?(?:always|never|do not ever)\s+{_RULE_VERB}\b.+)"
    rf"|(?:from now on|in (?:the )?future|going forward|henceforth)[, ]+(?P<now>(?:please )?(?:do not |only )?{_RULE_VERB}\b.+)"
    rf"|(?P<later>(?:do not |only )?{_RULE_VERB}\b.+?)[, ]+(?:from now on|in (?:the )?future|going forward)"
    r"|(?P<dont>do not (?:use|include|add|suggest|recommend|mention|ask|give|start|call)\b.+\b(?:me|your|answers?|repl(?:y|ies)|responses?|messages?)\b.*)"
    r"|(?P<how>(?:answer|reply|respond|speak|talk)(?: to)?(?: me)? (?:only |always )?(?:in|with|briefly|concisely|formally|using|as)\b.*)"
    r"|(?P<keep>keep (?:your |the |all )?(?:answers?|repl(?:y|ies)|responses?|explanations?) .+)"
    r"|(?P<when>(?:when(?:ever)?|if) I .+?, (?:please |always |never |do not )+.+)"
    r"|I (?:want|need|expect) you to (?P<want>(?:always|never) .+)"
    r"|I (?:prefer|like) (?P<prefer>(?:short|brief|concise|detailed|long|formal|informal|direct)\b.* (?:answers?|repl(?:y|ies)|responses?|explanations?))"
    r")$",
    re.IGNORECASE,
)
_CALL_ME: Final = re.compile(r"\bcall me ([A-Z][\w'-]+(?: [A-Z][\w'-]+)?)", re.ASCII)


def _sentence(sentence: str, asks: bool, talk: _Talk) -> None:
    if (told := _REMEMBER.match(sentence)) and not (
        asks and not re.match(r"(?:can|could) you|please", sentence, re.IGNORECASE)
    ):
        _remember(told, talk)
        return
    if asks or (_rule(sentence, talk) and not _CALL_ME.search(sentence)):
        return
    inherited: Subject | None = None
    for part in parts(sentence):
        inherited = None if UNREAL.search(part) else _part(part, talk, inherited)


def _remember(match: re.Match[str], talk: _Talk) -> None:
    """Something somebody asked to have remembered: as the facts it says, or else in their words."""
    told, before = match["told"], len(talk.found)
    for part in parts(told):
        if not UNREAL.search(part):
            _part(part, talk)
    if len(talk.found) == before and (talk.speaker == USER or re.search(r"\b(?:my|our)\b|\d", told)):
        told = (match.string[match.start("wish") :] if _HEADLESS.match(told) else told).strip(" .,")
        talk.found.append(_make(Said("noted", told), told, talk, when=None))
    talk.found[before:] = [
        replace(f, explicit=True, importance=max(0.9, f.importance), confidence=1.0) for f in talk.found[before:]
    ]


def _rule(sentence: str, talk: _Talk) -> bool:
    """A wish about how to be answered."""
    match = _RULE.match(sentence)
    if match is None or _CALL_ME.search(sentence):
        return False
    if talk.speaker != USER and not re.search(r"\b(?:answer|repl|respon|from now on)", sentence, re.IGNORECASE):
        return False  # what two people tell each other to do
    said = next(group for group in match.groups() if group)
    if match["prefer"]:
        said = f"give {said}"
    polarity = not re.match(r"(?:from now on,? |please )*(?:never|do not)\b", said, re.IGNORECASE) or bool(
        match["when"]
    )
    wish = said if match["when"] else re.sub(
        r"^(?:(?:from now on|in (?:the )?future|going forward|henceforth|please|always|never|do not ever|do not|ever)[, ]+)+", "", said,
        flags=re.IGNORECASE)  # fmt: skip
    wish = re.sub(r"\b(?:your|the|all) (?=answers?|repl|responses?|explanations?|messages?)", "", wish.strip(" ."))
    fact = _make(Said("should", wish, subject=ASSISTANT, polarity=polarity), sentence, talk, when=None)
    talk.found.append(fact)
    return True


# ---------------------------------------------------------------------- clauses


_GREETING: Final = re.compile(
    r"(?:hey|hi|hello|thanks|thank you|wow|yeah|yes|yep|yo|oh|sure|well|congrats|awesome|cool|nice|sorry|no)\b",
    re.IGNORECASE,
)
_WHICH: Final = re.compile(r"\b([A-Z][\w.+#-]*), which (is an?\b|uses\b|runs on\b|belongs to\b|depends on\b)")
"""A clause about the name before it: "Aurora uses Kafka, which is a message queue"."""
_DATED: Final = frozenset({"won", "completed", "lost", "pet"})
_AHEAD: Final = re.compile(r"\b(?:(?:am|are|is) (?:\w+ly |also |just |not )?\w+ing|will|have an?|has an?)\b")


def _part(part: str, talk: _Talk, inherited: Subject | None = None) -> Subject | None:
    """The clauses of a part, each with the subject and the time it may have from its neighbour; the last subject."""
    whole = part = _WHICH.sub(r"\1, \1 \2", part)
    said, part = special(part, talk.speaker)
    for one, clause in said:
        told = whole if one.predicate in _DATED else "" if one.predicate in ("birthday", "runs") else clause
        when = next((m.when for m in times.english(told, talk.at) if m.when and not m.future), None)
        talk.found.append(_make(one, _third_person(clause, talk), talk, when))
    lead: times.Mention | None = None
    first = True
    for clause in clauses(part):
        mentions = (
            times.english(clause, talk.at, ahead=_AHEAD.search(clause) is not None) if times.HINT.search(clause) else []
        )
        bare = _without(clause, mentions)
        mention = next((m for m in mentions if m.when is not None), None)
        if not bare.strip(" .,"):
            lead = mention or lead
            if mention and not first:
                _date_last(talk, mention)
            continue
        if UNLIKELY.search(bare):
            inherited = None
            continue
        who = subject(bare, inherited=inherited, antecedent=talk.antecedent, opening=first)
        first = first and who is None and _GREETING.match(bare) is not None
        if who is None:
            inherited = (
                None if re.match(r"(?:he|she|it|they|you|this|that|there)\b", bare, re.IGNORECASE) else inherited
            )
            continue
        inherited = who
        _clause(clause, bare, who, mention or lead, talk)
        lead = None
        if not who.own and not who.item and (who.name or who.kin):
            talk.antecedent = who
    return inherited


def _date_last(talk: _Talk, mention: times.Mention) -> None:
    if talk.found and talk.found[-1].when is None and not mention.future:
        talk.found[-1] = replace(talk.found[-1], when=mention.when)


def _without(clause: str, mentions: list[times.Mention]) -> str:
    for m in reversed(mentions):
        clause = clause[: m.start] + " " + clause[m.end :]
    return re.sub(r"\s{2,}", " ", clause).strip()


def _clause(clause: str, bare: str, who: Subject, mention: times.Mention | None, talk: _Talk) -> None:
    name = _naming(who, talk)
    when = mention.when if mention else None
    text = re.sub(r"\bI (are|were)\b", r"We \1", _readable(clause, who, talk))
    if who.kin and who.name:
        owner = who.owner or talk.speaker
        if not who.heard:
            kin = w.KIN.get(who.kin)
            if kin is None:
                talk.found += [_make(Said("pet", who.name, subject=owner), text, talk, None),
                               _make(Said("is_a", who.kin.rstrip("s"), subject=who.name), text, talk, None)]  # fmt: skip
            else:  # in words of its own: what the clause says beside it may change, and the relation stays
                whose = "my" if owner == USER else f"{owner}'s"
                told = f"{who.name} is {whose} {who.kin}"
                talk.found.append(_make(Said(kin, who.name, subject=owner), told, talk, None))
    if (said := predication(who.rest)) is None:
        return
    for one in _read(said, who, mention):
        polarity = one.polarity if one.polarity is not None else True
        ended = one.ended or said.ended or (said.tense == "d" and one.polarity is None and _ends(said, one.predicate))
        if said.negated and not one.ended:
            if one.predicate not in _NEGATABLE and not (one.predicate == "visited" and said.tense == "f"):
                continue
            if said.tense == "d" and one.predicate not in ("eats", "drinks"):
                continue
            polarity = not polarity
        if ended:
            polarity = False
        one = replace(one, subject=talk.speaker if one.kin else one.subject or name, polarity=polarity, ended=ended)
        if one.predicate == "also_called" and who.own is False and one.subject == name and is_name(one.object):
            one = replace(one, subject=one.object, object=name)
        stamp = None if mention and mention.duration and said.tense in "dp" and not ended else when
        if mention and mention.future and one.predicate != "plans":
            continue
        talk.found.append(_make(one, text, talk, stamp, third=not who.own))


def _ends(said: Predication, predicate: str) -> bool:
    """Whether the simple past of this verb says that a state is over."""
    if said.verb in ("be", "have"):
        return predicate not in ("born_in", "birthday", "has_condition")
    verb = w.verbs().get(said.form)
    return verb is not None and any(f.predicate == predicate and "D" in f.tenses for f in verb.frames)


def _naming(who: Subject, talk: _Talk) -> str:
    if who.own:
        return talk.speaker
    if who.name:
        return who.name
    return f"{who.owner or talk.speaker}'s {who.kin}"


# ---------------------------------------------------------------------- what the verb says


def _read(said: Predication, who: Subject, mention: times.Mention | None) -> list[Said]:
    coming = mention is not None and mention.future
    if said.tense in "gp" and coming and who.own and not said.negated and (plan := _plan(said)):
        return [plan]
    if said.future:
        return []
    if not said.verb and said.tense == "h" and not said.negated:
        return [Said("practises", said.form)]
    if said.verb == "be":
        return being(said, who)
    if said.verb == "have":
        return having(said, who, coming=coming)
    if said.verb == "stand":
        return READERS["taste"](said.rest, "likes") if said.negated else []
    verb = w.verbs().get(said.form)
    several = who.kin.endswith("s") or who.kin == "children" or " and " in who.name
    if not who.own and not several and said.tense == "p" and not said.negated and verb and "third" not in verb.forms:
        return []  # a name takes "likes": before "like" it was no name
    for frame in verb.frames if verb else ():
        if (rest := _after(frame.particles, said.rest)) is None or not _fits(frame.tenses, said, who):
            continue
        if found := _object(frame, rest, said.rest.lower()):
            return found
    return []


def _after(particles: tuple[str, ...], rest: str) -> str | None:
    """What stands behind a frame's particles; None where they are missing."""
    if not particles:
        return None if re.match(r"(?:to|at|for|in|on|from|with|into|of|off|out|over|through|about)\b", rest) else rest
    for particle in particles:
        match = re.match(particle + r"\b\s*", rest, re.IGNORECASE)
        if match:
            return rest[match.end() :]
    return None


def _fits(tenses: str, said: Predication, who: Subject) -> bool:
    if "n" in tenses:
        return said.tense == "p" and (said.negated or said.ended or "p" in tenses)
    if said.ended and said.tense == "p":
        return "p" in tenses or "g" in tenses
    if said.tense == "d" and "D" in tenses:
        return True
    if said.tense == "p" and said.form.endswith("s") and "p" not in tenses and "g" in tenses:
        return True
    return said.tense in tenses


def _object(frame: w.Frame, rest: str, whole: str) -> list[Said]:
    if frame.kind.startswith("="):  # a fixed object, or the particle itself
        particle = next((p for p in frame.particles if whole.startswith(p)), "")
        found = [Said(frame.predicate, particle if frame.kind == "=self" else frame.kind[1:])]
    else:
        found = READERS[frame.kind](rest, frame.predicate)
    if "x" in frame.tenses:
        return [replace(one, polarity=False, ended=True) for one in found]
    if "!" in frame.tenses:
        return [replace(one, polarity=False) for one in found]
    return found


_NO_PLAN: Final = w.words(
    "hoping thinking wondering considering trying looking dreaming feeling planning expecting aiming wishing debating getting"
    " having being doing making taking seeing hearing telling saying keeping coming"
)


def _plan(said: Predication) -> Said | None:
    """A plan with its date: "flying to Seoul", "a dentist appointment"."""
    if re.search(r"\b(?:it|them|this|that|you|your)\b", said.rest):
        return None
    rest = tidy(said.rest)
    if said.verb == "have" and said.tense == "p" and not said.future:
        ok = re.match(r"(?:an?|my|our|another|\d|two|three)\b", said.rest) and not re.search(
            r"\b(?:to|feeling)\b", said.rest
        )
        return Said("plans", rest) if ok and sound(rest) else None
    if said.tense == "g":
        if said.form == "going" and (match := re.match(r"to ([a-z]+\b.*)$", said.rest)):
            return (
                Said("plans", tidy(match[1]))
                if sound(tidy(match[1])) and not match[1].startswith(("be ", "have fun"))
                else None
            )
        if said.form == "planning" and (match := re.match(r"(?:to |on )?(.+)$", said.rest)):
            return Said("plans", tidy(match[1])) if sound(tidy(match[1])) else None
        if said.form == "getting" and re.match(r"(?:married|engaged|a )", said.rest):
            return Said("plans", f"getting {rest}")
        if said.form in _NO_PLAN and not re.match(r"(?:an?|my|our|the) \w+", said.rest):
            return None
        return Said("plans", f"{said.form} {rest}".strip()) if not rest or sound(rest) else None
    if said.future:
        return (
            Said("plans", f"{said.form} {rest}".strip())
            if sound(rest) and said.form not in w.words("be let keep see miss need have try")
            else None
        )
    return None


# ---------------------------------------------------------------------- the fact

_BEFORE_VERB: Final = re.compile(
    r"(?:(?:also|just|really|usually|always|both|still|often|mostly|totally|absolutely|even|only|already|currently|definitely) )+"
)
_THIRD_FORM: Final = {"am": "is", "have": "has", "do": "does", "are": "is", "were": "was"}


def _readable(clause: str, who: Subject, talk: _Talk) -> str:
    """The clause so that it can be read alone: its subject put in, a named speaker's name for "I"."""
    body = who.rest.strip()
    clause = clause.strip(" ,.")
    if who.own:
        if talk.speaker == USER:
            body = re.sub(
                rf"^((?:no longer |now |also |still |really )*)({'|'.join(LEFT_OUT)})\b",
                lambda m: m[1] + m[2].removesuffix("s"),
                body,
            )
            return (
                f"I {clause[clause.index(body[:12]) :] if body and body[:12] in clause else body}"
                if not re.search(r"\b(?:I|[Ww]e)\b", clause)
                else clause
            )
        tail = clause[clause.index(body[:12]) :] if body and body[:12] in clause else body
        lead = _BEFORE_VERB.match(tail)
        first, _, more = tail[lead.end() if lead else 0 :].partition(" ")
        verb = w.verbs().get(first.lower())
        if first.lower() in _THIRD_FORM:
            first = _THIRD_FORM[first.lower()]
        elif verb and "base" in verb.forms and "past" not in verb.forms:
            first += "es" if first.endswith(("s", "x", "z", "ch", "sh", "o")) else "s"
        sentence = f"{talk.speaker} {lead[0] if lead else ''}{first} {more}".strip()
    else:
        mine = who.kin and not who.name and not who.owner and talk.speaker == USER
        named = f"My {who.kin}" if mine else _naming(who, talk)
        sentence = clause if who.name and who.name in clause else f"{named} {body}"
    return _third_person(sentence, talk)


def _third_person(sentence: str, talk: _Talk) -> str:
    if talk.speaker == USER:
        return sentence
    sentence = re.sub(r"\bI run\b", f"{talk.speaker} runs", sentence)
    sentence = re.sub(r"\bI have\b", f"{talk.speaker} has", sentence)
    sentence = re.sub(r"\b(?:[Mm]y|[Oo]ur)\b", f"{talk.speaker}'s", sentence)
    return (
        re.sub(r"\bI am\b", f"{talk.speaker} is", sentence)
        if "I am" in sentence
        else re.sub(r"\bI\b", talk.speaker, sentence)
    )


def _make(one: Said, text: str, talk: _Talk, when: datetime | None, *, third: bool = False) -> Extracted:
    who = one.subject or talk.speaker
    planned = one.predicate == "plans"
    names = [who] if who not in (USER, ASSISTANT) else []
    if one.object[:1].isupper() or any(word[:1].isupper() for word in one.object.split()):
        names.append(one.object)
    project = one.predicate in ("works_on", "belongs_to") or (third and one.predicate in ("uses", "is_a", "runs"))
    kind = (
        LEARNED_RULE if one.predicate == "should" else EVENT if planned else PROJECT_CONTEXT if project else USER_FACT
    )
    return Extracted(
        subject=who,
        predicate=one.predicate,
        object=one.object,
        polarity=one.polarity is not False,
        text=text.strip(),
        type=kind,
        confidence=0.8 if third else 0.9,
        when=when,
        ended=one.ended,
        entities=tuple(dict.fromkeys(names)),
        planned=planned,
        importance=importance(one.predicate),
    )
