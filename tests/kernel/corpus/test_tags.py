import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.corpus.tags import Tag, load_tags, match_tags, with_general, with_tags
from ragstone.kernel.errors import ConfigError


def tags_of(text, **values):
    found = match_tags(text, [Tag("tag", {value: (value, *others) for value, others in values.items()})])
    return found["tag"]


@pytest.mark.parametrize(
    ("text", "values", "found"),
    [
        ("Maize and WHEAT.", {"wheat": [], "maize": []}, ["wheat", "maize"]),
        ("Corn is sown in May.", {"maize": ["corn"]}, ["maize"]),
        ("Il maïs pousse.", {"maize": ["maïs"]}, ["maize"]),
        ("मक्का बोई जाती है।", {"maize": ["मक्का"]}, ["maize"]),
        ("الذُّرَة تُزرع", {"maize": ["الذرة"]}, ["maize"]),
        ("Sojabohnen", {"soja": []}, []),
        ("plants", {"plant": []}, ["plant"]),
        ("种植玉米", {"maize": ["玉米"]}, ["maize"]),
        ("种植玉米", {"rice": ["米"], "maize": ["玉米"]}, ["maize"]),
        ("玉米和米", {"rice": ["米"], "maize": ["玉米"]}, ["rice", "maize"]),
        ("ปลูกข้าวโพด", {"maize": ["ข้าวโพด"]}, ["maize"]),
        ("New York, not York", {"york": [], "new york": []}, ["york", "new york"]),
        ("New York", {"york": [], "new york": []}, ["new york"]),
        ("tomatoes, tomate", {"tomato": []}, ["tomato"]),
        ("papayes", {"papaya": []}, ["papaya"]),
        ("chilies, chilis", {"chili": []}, ["chili"]),
        ("अंगूरों, मक्के", {"grape": ["अंगूर"], "maize": ["मक्का"]}, ["grape", "maize"]),
        ("my child", {"chili": []}, []),
        ("graph", {"grape": []}, []),
        ("avenue of fresh fresno", {"oats": ["avena"], "strawberry": ["fresa"]}, []),
        ("Indian farmers", {"Indiana": []}, []),
        ("drip-irrigation", {"drip irrigation": []}, ["drip irrigation"]),
        ("ton ton", {"ton": []}, ["ton"]),
        ("", {"maize": []}, []),
    ],
)
def test_values_are_found_as_whole_words_of_any_script(text, values, found):
    assert tags_of(text, **values) == found


@given(st.lists(st.sampled_from(["maize", "Wheat", "rye", "玉米", " ", ", ", "-", "s"])).map("".join))
def test_what_is_found_does_not_depend_on_case(text):
    values = {"maize": [], "wheat": ["玉米"], "rye": []}
    assert tags_of(text, **values) == tags_of(text.upper(), **values)


def load(tmp_path, text):
    (tmp_path / "tags.toml").write_text(text, encoding="utf-8")
    return load_tags(tmp_path / "tags.toml")


def test_a_file_declares_closed_and_open_tags(tmp_path):
    text = '[tags]\nmethod = ["drip", "pivot"]\nregion = "open"\n'
    crops = '[tags.crop]\nmaize = ["corn", "maíz"]\nrye = []\n'
    assert load(tmp_path, text + crops) == [
        Tag("method", {"drip": ("drip",), "pivot": ("pivot",)}),
        Tag("region", None),
        Tag("crop", {"maize": ("maize", "corn", "maíz"), "rye": ("rye",)}),
    ]


WHEAT = """[tags.crop]
"winter wheat" = ["blé d'hiver"]
wheat = ["winter wheat", "blé"]
rye = []
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Irrigate winter wheat in May.", ["winter wheat", "wheat"]),
        ("Le blé d'hiver", ["winter wheat", "wheat"]),
        ("Irrigate wheat in May.", ["wheat"]),
        ("Irrigate rye in May.", ["rye"]),
    ],
)
def test_what_names_a_kind_names_what_it_is_a_kind_of_and_not_the_reverse(tmp_path, text, found):
    (tag,) = load(tmp_path, WHEAT)
    assert tag.kinds == {"wheat": ("winter wheat",)}
    assert match_tags(text, [tag]) == {"crop": found}


def test_a_kind_of_a_kind_is_one_too_and_of_all_the_most_specific_is_meant(tmp_path):
    (tag,) = load(tmp_path, '[tags.crop]\ncereal = ["wheat"]\nrye = []\nwheat = ["durum"]\ndurum = []\n')
    assert match_tags("Sow durum.", [tag]) == {"crop": ["cereal", "wheat", "durum"]}
    assert tag.specific(["cereal", "wheat", "durum", "rye"]) == ["durum", "rye"]
    assert tag.specific(["wheat", "cereal"]) == ["wheat"]


def test_of_a_models_choice_a_kind_is_what_it_is_a_kind_of_too(tmp_path):
    (tag,) = load(tmp_path, WHEAT)
    assert with_general(["winter wheat"], tag) == {"winter wheat", "wheat"}
    assert with_general(["wheat"], tag) == {"wheat"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tags]\n", r"\[tags\] is empty\. Add a line like"),
        ("[tags]\n\ncrop = []", r"tags.toml:3: 'crop' has no values\. List some"),
        ("[tags.crop]\n", r"tags.toml:1: 'crop' has no values"),
        ('[tags]\na = "open"\ncrop = "opne"', r"tags.toml:\d: "),
        ("[tags]\ncrop = 5", r"tags.toml:2: Expected"),
        ('[tags]\ncrop = ["a", "a"]', "tags.toml:2: 'crop' lists a value twice"),
        ('[tags]\ncrop = ["a", "+"]', "'crop': '\\+' holds no letter or digit"),
        ('[tags.crop]\na = ["x"]\nb = ["X"]', "'crop': 'X' is a name of 'a' and of 'b'"),
        (
            '[tags.crop]\na = ["b"]\nb = ["c"]\nc = ["a"]',
            "tags.toml:1: 'crop': 'b' is a name of 'a' and of 'b'. Delete one",
        ),
        ('[tags]\nlang = ["en"]', "'lang' cannot be the key of a tag, since it already has a meaning"),
        (
            '[tags]\n"soil type" = ["clay"]',
            "tags.toml:2: 'soil type' cannot be the key of a tag: write it with",
        ),
        ("[tag]\n", r"unknown key 'tag'\. Did you mean 'tags'"),
        ("[tags", "not valid TOML"),
    ],
)
def test_a_mistake_in_the_file_names_the_line_and_the_fix(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path, says):
    with pytest.raises(ConfigError) as error:
        load_tags(tmp_path / "none.toml")
    says(error.value)


def test_one_value_is_a_text_several_are_a_list_none_is_no_tag():
    found = {"crop": ["maize", "rye"], "method": ["drip"], "region": []}
    assert with_tags({"a": 1}, found) == {"a": 1, "tags": {"crop": ["maize", "rye"], "method": "drip"}}
    assert with_tags(None, {"region": []}) is None


def test_tagging_again_replaces_these_tags_and_keeps_others():
    before = {"tags": {"crop": "rye", "own": "x"}}
    assert with_tags(before, {"crop": []}) == {"tags": {"own": "x"}}


def test_a_column_of_the_user_called_tags_is_not_overwritten(says):
    with pytest.raises(ValueError) as error:
        with_tags({"tags": ["a"]}, {"crop": ["rye"]})
    says(error.value)
