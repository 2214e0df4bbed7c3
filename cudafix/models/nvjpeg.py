"""nvJPEG: `nvjpeg.h` of CUDA 13.3 and the nvJPEG documentation of CUDA 12.4; nvJPEG2000 has no table.

Decoding and encoding run on the host and on the stream in the last argument, by way of buffers, pinned ones too, that
belong to the state, the encoder or the buffer objects attached to it. What waits for the stream, and until when the
bit stream is read, is not said call by call: whatever a call is given may be touched by the host before it returns, and
by its work on the stream. Allocators of the program's own are kept, and called out of sight.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_ROWS = """
nvjpeg{GetProperty,GetCudartProperty}   nothing - out                   ; silent
nvjpegCreateSimple                      nothing keeper_out              ; waits=maybe
nvjpegCreate                            nothing - keep keeper_out       ; waits=maybe
nvjpegCreateEx{,V2}                     nothing - keep keep - keeper_out ; waits=maybe
nvjpeg{Set,Get}{Device,Pinned}MemoryPadding nothing - -
nvjpegGetHardware{Decoder,Encoder}Info  nothing - out*
nvjpegDestroy                           nothing use                     ; waits=maybe
nvjpeg{JpegState,Decoder,JpegStream,EncoderState,EncoderParams,BufferPinned,BufferDevice,DecodeParams}Destroy nothing \
use ; waits=maybe
nvjpegJpegStateCreate                   nothing - keeper_out            ; holds=pinned waits=maybe
nvjpegDecoder{,State}Create             nothing - - keeper_out          ; holds=pinned waits=maybe
nvjpegEncoderStateCreate                work    - keeper_out stream     ; holds=pinned waits=maybe
nvjpegEncoderStateCreateWithBackend     work    - keeper_out - stream   ; holds=pinned waits=maybe
nvjpegEncoderParamsCreate               work    - keeper_out stream     ; holds=pinned waits=maybe
nvjpegEncoderParamsSet{Quality,Encoding,OptimizedHuffman,SamplingFactors,RestartInterval} work use - stream ; \
waits=maybe
nvjpegBuffer{Pinned,Device}Create{,V2}  nothing - keep keeper_out       ; holds=pinned waits=maybe
nvjpegBuffer{Pinned,Device}Resize       work    use - stream            ; waits=maybe
nvjpegBuffer{Pinned,Device}Retrieve     nothing of out alias
nvjpegStateAttach{Pinned,Device}Buffer  nothing use+keeper use+keep
# the bit stream may be kept where it is
nvjpegJpegStreamCreate                  nothing - keeper_out            ; holds=pinned waits=maybe
nvjpegJpegStreamParse                   nothing - use+keep - - - use+keeper
nvjpegJpegStreamParse{Header,Tables}    nothing - use+keep - use+keeper
nvjpegJpegStreamGet{JpegEncoding,FrameDimensions,ComponentsNum,ComponentDimensions,ExifOrientation,SamplePrecision,\
ChromaSubsampling} nothing use*
nvjpegGetImageInfo                      nothing - use - use use use use
nvjpegDecodeParamsCreate                nothing - out
nvjpegDecodeParamsSet{OutputFormat,ROI,AllowCMYK,ScaleFactor,ExifOrientation} nothing hrw*
nvjpegDecoderJpegSupported              nothing - use - use
nvjpegDecodeBatchedSupported{,Ex}       nothing - use use*
nvjpegDecode                            work    - use use - - use stream ; waits=maybe
nvjpegDecodeBatchedInitialize           work    - use - - -             ; on=unknown waits=maybe
nvjpegDecodeBatchedPreAllocate          work    - use - - - - -         ; on=unknown waits=maybe
nvjpegDecodeBatchedParseJpegTables      nothing - use use -
nvjpegDecodeBatched{,Ex}                work    - use* stream           ; waits=maybe
nvjpegDecodeJpeg                        work    - use* stream           ; waits=maybe
nvjpegDecodeJpegHost                    nothing - use use use use
nvjpegDecodeJpeg{TransferToDevice,Device} work  - use use use stream    ; waits=maybe
nvjpegEncodeGetBufferSize               nothing - use - - use
nvjpegEncode{,YUV,Image}                work    - use* stream           ; waits=maybe
nvjpegEncodeRetrieveBitstream{,Device}  work    - use use use stream    ; waits=maybe
nvjpegEncoderParamsCopy{Metadata,QuantizationTables} work use* stream   ; waits=maybe
nvjpeg2k*                               external rw*                    ; why=a library that has no table
"""

TABLES = (Table("nvJPEG 13.3", _ROWS, idle=True),)
