"""cuRAND, host API: `curand.h` of CUDA 13.0. A generator is a handle; it writes its output on the generator's stream.

`curandCreateGeneratorHost` makes a generator whose output is host memory and is there when the call returns: no row of
a generate function can tell the two apart, so output is `w` on the generator's stream and the host waits maybe. Its
state is memory of the device, which each call reads and moves on ("Generator Options", "Generation Functions").
"""

from __future__ import annotations

from cudafix.models.rows import Table

_ROWS = """
curandCreateGenerator{,Host}            handle_create   handle_out -    ; holds=device waits=maybe
curandDestroyGenerator                  handle_destroy  handle          ; waits=maybe
curandSetStream                         handle_set_stream handle stream
curandSet{PseudoRandomGeneratorSeed,GeneratorOffset,GeneratorOrdering,QuasiRandomGeneratorDimensions} nothing handle \
- ; \
waits=maybe
curandGenerateSeeds                     work            handle          ; waits=maybe
curandGenerate{,LongLong,Uniform,UniformDouble} work    handle w -      ; waits=maybe
curandGenerate{Normal,NormalDouble,LogNormal,LogNormalDouble} work handle w - - - ; waits=maybe
curandGeneratePoisson                   work            handle w - -    ; waits=maybe
curandGeneratePoissonMethod             work            handle w - - -  ; waits=maybe
curandGenerateBinomial                  work            handle w - - -  ; waits=maybe
curandGenerateBinomialMethod            work            handle w - - - - ; waits=maybe
curandCreatePoissonDistribution         nothing         - found         ; waits=maybe
curandDestroyDistribution               nothing         -               ; waits=maybe
curandGet{DirectionVectors32,DirectionVectors64,ScrambleConstants32,ScrambleConstants64} nothing found -*
curandGet{Version,Property}             nothing         out hrw*          ; silent
curandMakeMTGP32Constants               copy            r w             ; sync on=legacy
curandMakeMTGP32KernelState             copy            w r r - -       ; sync on=legacy
"""

TABLES = (Table("cuRAND 13.0", _ROWS, on="handle", exact=True),)
