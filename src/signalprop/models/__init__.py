"""Networks to train: perceptrons, many side by side, and convolutional ones."""

from signalprop.models.conv import conv_net, orth_table_3, unfold_rows
from signalprop.models.conv_stack import ConvStack
from signalprop.models.linear import Affine, Linear
from signalprop.models.mlp import MLP
from signalprop.models.stacked import Stacked

__all__ = [
    "MLP",
    "Affine",
    "ConvStack",
    "Linear",
    "Stacked",
    "conv_net",
    "orth_table_3",
    "unfold_rows",
]
