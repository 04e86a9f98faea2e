import pytest

from ragstone.flows.bench_retrievers.answering import says_true


@pytest.mark.parametrize(
    "answer",
    [
        "True",
        "TRUE.",
        "**True**",
        "Yes",
        "The statement is true.",
        "Yes, the passages say so.",
        "It is correct: rust is treated.",
        "Not false.",
        "Verdadero",
        "Sí.",
        "La afirmación es cierta.",
        "Wahr",
        "Vrai",
        "верно",
        "सही",
        "यह कथन सत्य है।",
        "صحيح",
        "正确。",
        "该说法是真的",
        "对",
        "ถูกต้อง",
        "ข้อความนี้เป็นจริง",
        "Doğru",
        "Đúng",
        "kweli",
    ],
)
def test_answer_says_true(answer):
    assert says_true(answer) is True


@pytest.mark.parametrize(
    "answer",
    [
        "False",
        "false, because the true value is 5",
        "No.",
        "No, it is true of maize only.",
        "This is not true.",
        "It isn't correct",
        "Untrue",
        "Falso",
        "No es cierto.",
        "La afirmación no es verdadera",
        "nicht wahr",
        "неверно",
        "गलत",
        "यह सही नहीं है",
        "غير صحيح",
        "خطأ",
        "不正确",
        "错误。",
        "假",
        "ไม่จริง",
        "เท็จ",
        "doğru değil",
        "không đúng",
        "Taarifa hii si kweli",
        "no es del todo cierto",
    ],
)
def test_answer_says_false(answer):
    assert says_true(answer) is False


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The documents do not answer this question.",
        "It cannot be told whether this is true or false.",
        "There is no evidence for it.",
        "Wheat is sown in October.",
        "对于小麦",
        "ถูกสร้างขึ้นในปี 1900",
    ],
)
def test_answer_that_says_neither_or_both_says_nothing(answer):
    assert says_true(answer) is None
