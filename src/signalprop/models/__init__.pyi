from .cifar_resnet import (
    CifarResNet as CifarResNet,
)
from .cifar_resnet import (
    fixup_ as fixup_,
)
from .conv import (
    conv_net as conv_net,
)
from .conv import (
    orth_table_3 as orth_table_3,
)
from .conv import (
    unfold_rows as unfold_rows,
)
from .conv import (
    vgg as vgg,
)
from .conv_stack import (
    ConvStack as ConvStack,
)
from .inspection import (
    preactivations as preactivations,
)
from .linear import (
    Affine as Affine,
)
from .linear import (
    Linear as Linear,
)
from .mlp import (
    MLP as MLP,
)
from .resnet import (
    ResNet as ResNet,
)
from .stacked import (
    Stacked as Stacked,
)
