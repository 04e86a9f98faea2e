import numpy as np
import pytest

from ragstone.kernel.statistics import cluster_codes, cluster_totals
from ragstone.kernel.statistics.intervals import cell_totals


def test_clusters_are_numbered_in_order_of_first_appearance():
    assert cluster_codes(["b", ("a", 1), "b"], 3).tolist() == [0, 1, 0]


def test_without_clusters_every_row_stands_alone():
    assert cluster_codes(None, 3).tolist() == [0, 1, 2]


def test_clusters_of_another_length_are_an_error(says):
    with pytest.raises(ValueError) as error:
        cluster_codes(["a", "b"], 3)
    says(error.value)


def test_totals_are_sums_over_each_cluster():
    columns = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert cluster_totals(columns, np.array([0, 1, 0])).tolist() == [[5.0, 50.0], [2.0, 20.0]]


def test_cells_are_counted_in_each_cluster():
    assert cell_totals(np.array([2, 0, 2]), 3, np.array([0, 1, 0])).tolist() == [[0, 0, 2], [1, 0, 0]]
