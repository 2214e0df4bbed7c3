"""cuDNN 7 to 9, legacy API: `cudnn.h`, `cudnn_ops.h`, `cudnn_cnn.h`, `cudnn_adv.h`, and the graph API's back end.

Calls work on the handle's stream. Descriptors of tensors, filters and operations describe shapes and hold no pointers,
apart from dropout descriptors (their random state). alpha and beta are host scalars. Functions that search for an
algorithm run kernels and time them: they wait for the device, which their documentation says and no order is built on.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_ROWS = """
cudnnCreate                             handle_create   handle_out      ; waits=maybe
cudnnDestroy                            handle_destroy  handle          ; waits=maybe
cudnnSetStream                          handle_set_stream handle stream
cudnnGetStream                          external        handle stream_out ; why=a stream that is read back from a \
handle
cudnnGet{ErrorString,LastErrorString,Version,CudartVersion,MaxDeviceVersion,Property} nothing hrw* ; silent
cudnnQueryRuntimeError                  status          -*
cudnnSetCallback                        external        - - fn  ; why=a function that the library calls
cudnnGetCallback                        nothing         hrw*
cudnn{Create,Destroy}{Tensor,Filter,Convolution,Pooling,Activation,LRN,SpatialTransformer,OpTensor,ReduceTensor,\
Dropout,\
RNN,RNNData,CTCLoss,Attn,SeqData,TensorTransform,Algorithm}Descriptor nothing out       ; waits=maybe
cudnn{Set,Get}{Tensor4d,Tensor4dEx,TensorNd,TensorNdEx,Filter4d,FilterNd,Convolution2d,ConvolutionNd,Pooling2d,\
PoolingNd,\
Activation,LRN,SpatialTransformerNd,OpTensor,ReduceTensor,RNNData,CTCLoss,TensorTransform}Descriptor nothing hrw*
cudnn{Set,Get}{TensorNdDescriptorEx,Tensor4dDescriptorEx,ActivationDescriptorSwishBeta} nothing hrw*
# a dropout descriptor is one of them, which keeps its states
cudnnSetRNNDescriptor{_v5,_v8}          nothing         keeper keep*
cudnnSetRNNDescriptor{,_v6}             nothing         keep+keeper keep+keeper keep*
cudnnGetRNNDescriptor{,_v5,_v6,_v8}     nothing         hrw*
cudnn{Set,Get}Convolution{MathType,GroupCount,ReorderType} nothing hrw*
cudnn{Set,Get}RNN{MatrixMathType,BiasMode,PaddingMode,ProjectionLayers,Algorithm} nothing hrw*
cudnnGet{TensorSizeInBytes,FilterSizeInBytes,Pooling2dForwardOutputDim,PoolingNdForwardOutputDim} nothing hrw*
cudnnGetConvolution{2d,Nd}ForwardOutputDim nothing      hrw*
cudnnGetConvolution{Forward,BackwardData,BackwardFilter}{Algorithm,Algorithm_v7,AlgorithmMaxCount,WorkspaceSize} \
nothing hrw*
# they measure how long each algorithm takes
cudnnFindConvolution{Forward,BackwardData,BackwardFilter}Algorithm work handle hrw*     ; timed waits=maybe
cudnnFindConvolution{Forward,BackwardData,BackwardFilter}AlgorithmEx work handle rw*    ; timed waits=maybe
cudnn{DropoutGetStatesSize,DropoutGetReserveSpaceSize,GetReductionWorkspaceSize,GetReductionIndicesSize} nothing hrw*
cudnnGetRNN{WorkspaceSize,TrainingReserveSize,ParamsSize,TempSpaceSizes,WeightSpaceSize} nothing hrw*
cudnnGetRNNLinLayer{Matrix,Bias}Params  nothing         - - - - - of - - alias
cudnnGetRNNWeightParams                 nothing         - - - - of - - alias - alias
cudnn{Create,Destroy,Set}PersistentRNNPlan nothing      hrw*              ; waits=maybe
cudnn{BuildRNNDynamic}                  nothing         hrw*              ; waits=maybe
cudnn{Set,Restore}DropoutDescriptor     work            keeper handle - keep - -        ; waits=maybe
cudnnGetDropoutDescriptor               nothing         - - out found out
cudnnDeriveBNTensorDescriptor           nothing         hrw*
cudnnGet{BatchNormalization,Normalization}{ForwardTrainingEx,BackwardEx,TrainingExReserveSpace,ForwardTraining,\
Backward,\
TrainingReserveSpace}{WorkspaceSize,Size,} nothing      hrw*
# handle, [descriptor,] alpha, xDesc, x, ..., beta, yDesc, y
cudnn{TransformTensor,AddTensor}        work            handle hr - r hr - rw
cudnnTransformTensorEx                  work            handle - hr - r hr - rw
cudnnTransformFilter                    work            handle - hr - r hr - rw
cudnnOpTensor                           work            handle - hr - r hr - r hr - rw
cudnnReduceTensor                       work            handle - w - rw - hr - r hr - rw
cudnn{SetTensor,ScaleTensor}            work            handle - rw hr
cudnnConvolutionForward                 work            handle hr - r - r - - rw - hr - rw
cudnnConvolutionBiasActivationForward   work            handle hr - r - r - - rw - hr - r - r - - w
cudnnConvolutionBackwardBias            work            handle hr - r hr - rw
cudnnConvolutionBackwardFilter          work            handle hr - r - r - - rw - hr - rw
cudnnConvolutionBackwardData            work            handle hr - r - r - - rw - hr - rw
cudnnIm2Col                             work            handle - r - - w
cudnnReorderFilterAndBias               work            handle - - r w - r w
cudnnSoftmaxForward                     work            handle - - hr - r hr - rw
cudnnSoftmaxBackward                    work            handle - - hr - r - r hr - rw
cudnn{Pooling,Activation}Forward        work            handle - hr - r hr - rw
cudnn{Pooling,Activation}Backward       work            handle - hr - r - r - r hr - rw
cudnnActivation{Forward,Backward}_v4    work            handle rw*
cudnnLRNCrossChannelForward             work            handle - - hr - r hr - rw
cudnnLRNCrossChannelBackward            work            handle - - hr - r - r - r hr - rw
cudnnDivisiveNormalization{Forward,Backward} work       handle rw*
cudnnBatchNormalizationForwardInference work            handle - hr hr - r - w - r r r r -
cudnnBatchNormalizationForwardTraining  work            handle - hr hr - r - w - r r - rw rw - w w
cudnnBatchNormalizationBackward         work            handle - hr hr hr hr - r - r - rw - r w w - r r
cudnn{BatchNormalization,Normalization}{ForwardTrainingEx,BackwardEx,ForwardTraining,ForwardInference,Backward} work \
handle rw*
cudnnDropout{Forward,Backward}          work            handle rw - r - w rw -
cudnnSpatialTf{GridGeneratorForward,GridGeneratorBackward,SamplerForward,SamplerBackward} work handle rw*
cudnnRNN{ForwardInference,ForwardTraining,BackwardData,BackwardWeights}{,Ex} work handle rw*
cudnnRNN{Forward,BackwardData_v8,BackwardWeights_v8} work handle rw*    ; waits=maybe
cudnnRNN{SetClip,GetClip}{,_v8,_v9}     nothing         hrw*
cudnnSetAttnDescriptor                  nothing         keeper keep*
cudnn{{Set,Get}{SeqDataDescriptor,CTCLossDescriptorEx},GetAttnDescriptor} nothing hrw*
cudnn{GetFoldedConvBackwardDataDescriptors,InitTransformDest,DeriveNormTensorDescriptor} nothing hrw*
cudnnGetMultiHeadAttnWeights            nothing         - - - - of - alias
cudnn{Create,Destroy}FusedOps{ConstParamPack,VariantParamPack,Plan} nothing hrw*
cudnn{Set,Get}FusedOpsConstParamPackAttribute nothing   hrw*
cudnnSetFusedOpsVariantParamPackAttribute nothing       keeper - keep
cudnnGetFusedOpsVariantParamPackAttribute nothing       hrw*
cudnnMakeFusedOpsPlan                   nothing         hrw*
cudnnFusedOpsExecute                    work            handle - rw
cudnnBackend{Populate,Update}CudaGraph  nothing         - - keep graph
cudnn{MultiHeadAttnForward,MultiHeadAttnBackwardData,MultiHeadAttnBackwardWeights} work handle rw* ; waits=maybe
cudnn{CTCLoss,CTCLoss_v8}               work            handle rw*      ; waits=maybe
cudnnGet{CTCLossWorkspaceSize,CTCLossWorkspaceSize_v8,MultiHeadAttnBuffers} nothing hrw*
cudnn{OpsVersionCheck,CnnVersionCheck,AdvVersionCheck,OpsInferVersionCheck,OpsTrainVersionCheck,CnnInferVersionCheck,\
CnnTrainVersionCheck,AdvInferVersionCheck,GraphVersionCheck} nothing
# the graph API's back end: a variant pack keeps the pointers that are set as its attribute
cudnnBackend{CreateDescriptor,DestroyDescriptor,Initialize,Finalize,GetAttribute} nothing hrw*
cudnnBackendSetAttribute                nothing         keeper - - - keep
cudnnBackendExecute                     work            handle - rw
"""

TABLES = (Table("cuDNN 9", _ROWS, on="handle", exact=True),)
