"""What the generated operation modules import."""

from mlir.dialects._ods_common import *
from mlir.dialects._ods_common import _cext
