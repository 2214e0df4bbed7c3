"""TensorRT from Python: what building, describing and running an engine means for ordering.

Names are those of `models.python`. What the functions do is said in NvInfer.h and NvInferRuntime.h of TensorRT 10; the
names that older versions had (`get_binding_shape`, `build_engine`) mean the same. Nothing here holds for a program that
gives TensorRT code of its own to call, an allocator or a calibrator: the front end takes those calls for unknown.
"""

from __future__ import annotations

import re

from cudafix.models.rows import Table

TAKES_CODE = re.compile(
    rb"\bI(?:Int8\w*Calibrator2?|Gpu(?:Async)?Allocator|OutputAllocator|Profiler|ErrorRecorder|ProgressMonitor|Algorithm"
    rb"Selector|DebugListener|Plugin(?!Registry|Resource|V2Layer|V3Layer|Layer|Capability)\w*|Stream(?:Reader|Writer)\w*"
    rb"|Logger)\b(?!\.Severity)|\b(?:int8_calibrator|gpu_allocator|error_recorder|progress_monitor|algorithm_selector"
    rb"|profiler|set_debug_listener|temporary_allocator|register_creator)\b|\btensorrt\.plugin\b"
    rb"|\bdef[ \t]+(?:[gs]et_(?:tensor|binding|input|output|profile)_\w+|execute(?:_async)?(?:_v[23])?|infer_shapes"
    rb"|create_execution_context)\b"
)
"""What a program that gives TensorRT code of its own to call, or has methods of its names, writes somewhere."""

_BUILD = """
# descriptions of networks and configurations are made on the host; weights stay where the program has them, and the
# network knows them
tensorrt.{Logger,Builder,Runtime,Dims,DimsHW,Permutation,nptype,volume,init_libnvinfer_plugins,get_plugin_registry,\
MatrixOperation,BuilderFlag,NetworkDefinitionCreationFlag} host hr*
tensorrt.__version__.split host hr*
tensorrt.{OnnxParser,Weights,PluginField,PluginFieldCollection} host keep* ; returns=keeper
tensorrt.OnnxParser().{parse,parse_from_file,get_error,clear_errors,supports_model,supports_operator} host - hr*
tensorrt.Builder().{create_network,create_builder_config,create_optimization_profile} host - hr* ; returns=keeper
tensorrt.Builder().{create_network,create_builder_config}().* host keeper keep*
tensorrt.Builder().create_optimization_profile().* host - hr*
# "This function will synchronize the CUDA stream returned by config.getProfileStream() before returning."
tensorrt.Builder().build_{engine,cuda_engine,engine_with_config,serialized_network} work - rw* ; on=unknown waits=own
# what this leaves running, if anything, fills memory of the engine's own, and nobody is asked to wait before an enqueue
tensorrt.Runtime().deserialize_cuda_engine{,().serialize} host - hr*
"""

_ENGINE = """
object.create_execution_context{,_without_device_memory} host - - ; returns=keeper
object.{get_binding_shape,get_binding_dtype,get_binding_index,get_binding_name,get_binding_format,get_profile_shape,\
binding_is_input,get_tensor_name,get_tensor_mode,get_tensor_shape,get_tensor_dtype,get_tensor_location,\
get_tensor_format,get_tensor_format_desc,get_tensor_bytes_per_component,get_tensor_vectorized_dim,\
get_tensor_components_per_element,get_tensor_profile_shape,get_tensor_strides,get_max_output_size,\
get_device_memory_size_for_profile,get_device_memory_size_for_profile_v2,create_engine_inspector,\
get_engine_information,get_layer_information} host - hr*
object.{set_input_shape,set_binding_shape,infer_shapes} host - hr*
# "Modifying or releasing memory that has been registered for the tensors before stream synchronization ... results in
# undefined behavior": the work runs on the given stream and touches what was registered
object.set_{tensor,input_tensor,output_tensor}_address host keeper - keep
object.execute_async_v3                 work    rw stream
object.execute_async_v2                 work    rw rw stream -
object.execute_async                    work    rw - rw stream -
# "Synchronously execute inference": the stream is not documented, that the call waits for its work is
object.execute_v2                       work    rw rw       ; on=unknown waits=own
object.execute                          work    rw - rw     ; on=unknown waits=own
object.set_{device_memory,output_allocator,input_consumed_event,aux_streams} external rw* ; why=TensorRT keeps it
"""

TABLES = (
    Table("TensorRT 10 NvInfer.h", _BUILD, looks=False),
    Table("TensorRT 10 NvInferRuntime.h", _ENGINE, looks=False),
)
