// All operations of the cuda_tile dialect.

include "CudaTileFloatOps.td"
include "CudaTileIntegerOps.td"
include "CudaTileConversionOps.td"
include "CudaTileCoreOps.td"
include "CudaTileControlFlowOps.td"
include "CudaTileMemoryOps.td"
include "CudaTileViewOps.td"
include "CudaTileExtendedOps.td"
