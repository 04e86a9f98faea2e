"""Abbreviations after which a sentence mostly goes on, in the languages that write them with a full stop.

In small letters and without the full stop. Not in the lists: what ends a sentence as often as not ("etc.",
"Inc.", "usw."); single letters and dotted ones ("e.g.", "z.B."), which rules recognise; and words that are
words too, unless a number must follow.
"""

# ruff: noqa: SIM905 - one word a line would hide the lists

TITLES = frozenset(
    # English
    "mr mrs ms dr prof rev hon gov sen rep gen col capt cpt cmdr lt sgt maj adm st ste mt ft messrs mmes vs "
    "viz cf al esp approx dept univ assn bros incl hwy "
    # German, Dutch, Scandinavian
    "hr fr frl dipl ing bzw ca vgl sog evtl ggf inkl exkl zzgl bspw geb gest hrsg str nr dhr mevr drs bijv "
    # French, Italian, Spanish, Portuguese, Catalan, Romanian
    "mme mlle mgr sig dott avv egr sr sra srta dra ud uds vd vds lic gral av avda dña exmo exma sto sta "
    "ee ff "
    # Russian, Ukrainian, Bulgarian, Serbian
    "им ул пр просп акад проф доц тов гр см ср напр "
    # Polish, Czech, Slovak, Croatian
    "tzw tzn św ul np mgr inż gen płk tj např tzv "
    # Turkish, Vietnamese, Indonesian
    "doç yrd öğr gör sn av bkz tp ts ths gs pgs drs "
    # Greek, Hindi, Urdu, Persian
    "δρ βλ πχ श्री पं डॉ प्रो मि ڈاکٹر دکتر".split()
)

# Abbreviations only where a number follows: "No. 5", "p. 12", "Sept. 3".
NUMBERED = frozenset(
    "no nos p pp pg par para art arts fig figs eq eqs vol vols ch chap sec sect tab ver ed app ex "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "abs abb bd kap ziff anm seit pag pág págs núm n° cap tít "
    "стр рис табл гл п пп ст рп № σελ αρ εικ str rys tab poz sayfa sf".split()
)

# Languages that write ordinal numbers with a full stop: "am 3. Mai", "2. Dünya Savaşı".
ORDINAL_DOT = frozenset("cs da de et fi fo hr hu is lb lv nb nn no pl sk sl sr tr".split())

# After a dotted abbreviation ("U.S.", "a.m.") these begin a sentence; any other word goes on with it.
STARTERS = frozenset(
    "a after all also although an and as at but by during each for from he her his however i if in it its "
    "many most my no on one our she since so some that the their then there these they this those though to "
    "under we what when where while who why with you your".split()
)
