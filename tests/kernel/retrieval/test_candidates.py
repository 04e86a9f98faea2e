from ragstone.kernel.retrieval._candidates import candidates_of, terms_of

STEPS = "To charge the battery:\n\n1. Switch the drone off.\n2. Connect the charger."


def quotes(passage, title=None):
    return [passage[slice(*one.span)] for one in candidates_of([passage], [title])]


def test_headings_questions_and_lines_without_their_list_are_no_candidates():
    heads = "## Filters\nWhen is the filter cleaned?\nSensor Install Tips\nThe mesh:\n\n"
    passage = f"{heads}Clean it monthly in summer."
    assert quotes(passage) == ["Clean it monthly in summer."]


def test_a_heading_and_the_title_count_beside_each_sentence_below_them():
    first, second = candidates_of(["# Pump filters\nWash the mesh. Dry the mesh."], ["Manual"])
    assert first.beside == {"manua", "pump", "filte"}
    assert second.beside == first.beside | {"wash", "the", "mesh"}


def test_steps_are_one_quote_with_the_line_before_them():
    assert quotes(f"{STEPS}\n\nBuy spare parts early.") == [STEPS, "Buy spare parts early."]


def test_code_belongs_to_the_line_before_it_and_alone_is_no_quote():
    told = "Create a project with this command:\n\n```console\n$ mix phx.new hello\n# It asks. Say yes.\n```"
    assert quotes(f"{told}\nIt takes a minute.") == [told, "It takes a minute."]
    assert quotes("```\nx = 1. Then y.\n```\nThe code sets x.") == ["The code sets x."]


def test_words_of_code_and_drawings_in_letters_do_not_count():
    (told,) = candidates_of(
        ["Set the limit:\n```\nconfig :app, port: 4000\n```\n+-----+  |--> A <--|  +====+"], []
    )
    assert told.terms == ["set", "the", "limit"]
    assert told.span[1] > told.span[0] + len(told.text)


def test_a_list_that_is_too_long_ends_where_it_still_fits():
    items = [f"- Item number {n} of a list that goes on and on." for n in range(40)]
    (listed, *rest) = quotes("\n".join(["These are the items:", *items]))
    assert listed.startswith("These are the items:\n- Item number 0")
    assert 500 < len(listed) <= 600
    assert rest


def test_a_sentence_that_leans_on_the_one_before_is_quoted_with_it():
    passage = "The filter keeps sand out. It is cleaned once a month.\nIt is blue."
    assert quotes(passage) == [
        "The filter keeps sand out.",
        "The filter keeps sand out. It is cleaned once a month.",
        "It is blue.",  # on a line of its own: who it is about is not in this line
    ]


def test_plural_and_inflected_words_share_their_term():
    assert terms_of("pumps pump cleaning cleaned gas bus") == ["pump", "pump", "clean", "clean", "gas", "bus"]
