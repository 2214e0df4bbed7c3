"""Thrust and CUB: the CCCL documentation (CUDA 13.0).

Thrust algorithms run on the policy's stream, the default stream without one, and the host waits for that stream before
they return ("all of Thrust's algorithms that are not async are synchronous", since 1.9.4); those of a program that
names the policy `par_nosync` may wait or not. An algorithm whose iterators are all host memory runs on the host and
waits for nothing: `hr`-like use of host memory only, the operation touches no device memory. A policy made by
`par.on(s)` is a handle on stream s. Vectors allocate and free with the blocking calls inside, which stays as it is.

CUB's device-wide algorithms take temporary storage and its size, run on the last argument's stream (default 0) and do
not wait. With a null storage they only compute the size.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_ALGORITHMS = """
thrust::{sort,stable_sort,sort_by_key,stable_sort_by_key,reverse,sequence,fill,fill_n,generate,generate_n,tabulate} \
work rw* ; \
waits=own
thrust::{for_each,for_each_n,transform,transform_if,replace,replace_if,replace_copy,replace_copy_if,swap_ranges} work \
rw* ; waits=own
thrust::{copy,copy_n,copy_if,gather,gather_if,scatter,scatter_if,reverse_copy,unique_copy,unique_by_key_copy} work \
rw* ; waits=own
thrust::{remove,remove_if,remove_copy,remove_copy_if,unique,unique_by_key,unique_count,partition,partition_copy} work \
rw* ; waits=own
thrust::{stable_partition,stable_partition_copy,partition_point,is_partitioned} work rw* ; waits=own
thrust::{reduce,reduce_by_key,transform_reduce,inner_product,count,count_if,adjacent_difference} work rw* ; waits=own
thrust::{inclusive,exclusive,transform_inclusive,transform_exclusive}_scan{,_by_key} work rw* ; waits=own
thrust::{max_element,min_element,minmax_element,is_sorted,is_sorted_until,equal,mismatch} work rw* ; waits=own
thrust::{find,find_if,find_if_not,all_of,any_of,none_of,merge,merge_by_key} work rw* ; waits=own
thrust::{lower_bound,upper_bound,binary_search,equal_range} work rw* ; waits=own
thrust::{set_union,set_intersection,set_difference,set_symmetric_difference}{,_by_key} work rw* ; waits=own
thrust::{uninitialized_fill,uninitialized_fill_n,uninitialized_copy,uninitialized_copy_n,shuffle,shuffle_copy} work \
rw* ; waits=own
thrust::swap                            external        rw*     ; why=swaps the contents of vectors or references
thrust::async::{copy,for_each,reduce,reduce_into,transform,sort,stable_sort,inclusive_scan,exclusive_scan} external \
rw* ; \
why=returns an event of Thrust's own
"""

_POINTERS = """
thrust::{raw_pointer_cast,device_pointer_cast,device_ptr,reinterpret_pointer_cast,raw_reference_cast} host - ; \
returns=same
thrust::{make_zip_iterator,make_tuple,tie,make_pair,zip_iterator,tuple,pair,make_permutation_iterator} host keep* ; \
returns=keeper
thrust::{make_transform_iterator,make_transform_output_iterator,make_strided_iterator,make_reverse_iterator} host \
keep* ; \
returns=keeper
thrust::{transform_iterator,permutation_iterator,reverse_iterator} host keep* ; returns=keeper
# those of pointers give pointers
thrust::{make_counting_iterator,make_constant_iterator,counting_iterator,constant_iterator} host keep* ; returns=keeper
thrust::{make_discard_iterator,discard_iterator} host   -*
thrust::{get,next,prev,advance}         host            - -     ; returns=same
thrust::distance                        host            - -
thrust::{max,min,minimum,maximum,plus,minus,multiplies,divides,modulus,negate,less,less_equal,greater,greater_equal} \
host -*
thrust::{equal_to,not_equal_to,identity,square,logical_and,logical_or,logical_not,bit_and,bit_or,project1st,\
project2nd} host -*
thrust::{default_random_engine,minstd_rand,uniform_int_distribution,uniform_real_distribution,normal_distribution} \
host -*
thrust::{random,make_random_accumulator}::{default_random_engine,uniform_real_distribution,normal_distribution} host -*
thrust::{complex,abs,arg,norm,conj,polar,exp,log,pow,sqrt,sin,cos} host -*
thrust::{device_malloc,device_new,malloc} external      -*      ; why=Thrust allocates itself
thrust::{device_free,device_delete,free} external       rw*     ; why=Thrust frees itself
thrust::{get_temporary_buffer,return_temporary_buffer} external rw* ; why=Thrust allocates itself
# a vector copies what it is made from, on the default stream, and waits
thrust::{device_vector,universal_vector} work           r*      ; waits=own
thrust::host_vector                     work            r*      ; waits=own
thrust::{device,host,seq,omp,tbb}       host
# policies
thrust::cuda::par                       host            -
thrust::{cuda::par,device}.on           handle_create   - stream ; returns=handle
# without the wait that every algorithm has (`cudafix.ordering.interpreter.effects`)
thrust::cuda::par_nosync.on             handle_create   - stream ; returns=handle
"""

_METHODS = """
thrust::{device,host,universal}_vector.{begin,end,cbegin,cend,rbegin,rend,data,front,back,operator[]} host - - ; \
returns=same
thrust::{device,host,universal}_vector.{size,empty,capacity,max_size} host -
thrust::{device,universal}_vector.{push_back,pop_back,insert,erase,assign,resize,reserve,clear,shrink_to_fit} work rw \
r* ; waits=own
thrust::host_vector.{push_back,pop_back,insert,erase,assign,resize,reserve,clear,shrink_to_fit} work rw r* ; waits=own
thrust::{device,host,universal}_vector.swap host        swap swap
thrust::device_ptr.get                  host            -       ; returns=same
thrust::tuple.get                       host            -       ; returns=same
"""

_CUB = """
# temporary storage, its size, ..., stream; older versions have a last parameter for debugging. The forms that work in
# place have as many arguments with their stream as the others have without (`stream?`)
cub::DeviceReduce::{Sum,Min,Max,ArgMin,ArgMax} work     rw - r w - stream -
cub::DeviceReduce::{ArgMin,ArgMax}/7    work            rw - r w w - stream
cub::DeviceReduce::Reduce               work            rw - r w - op op stream -
cub::DeviceReduce::TransformReduce      work            rw - r w - op op op stream
cub::DeviceReduce::ReduceByKey          work            rw - r w r w w op - stream -
cub::DeviceSegmentedReduce::{Sum,Min,Max,ArgMin,ArgMax} work rw - r w - r r stream -
cub::DeviceSegmentedReduce::Reduce      work            rw - r w - r r op op stream -
cub::DeviceScan::{ExclusiveSum,InclusiveSum} work       rw - rw w - stream -
cub::DeviceScan::{ExclusiveSum,InclusiveSum}/4 work     rw - rw -
cub::DeviceScan::{ExclusiveSum,InclusiveSum}/5 work     rw - rw rw stream?
cub::DeviceScan::{ExclusiveScan,InclusiveScanInit} work rw - rw w op op - stream -
cub::DeviceScan::{ExclusiveScan,InclusiveScanInit}/7 work rw - rw rw op op stream?
cub::DeviceScan::InclusiveScan          work            rw - rw w op - stream -
cub::DeviceScan::InclusiveScan/6        work            rw - rw rw op stream?
cub::DeviceScan::{Exclusive,Inclusive}SumByKey work     rw - r rw w - op stream -
cub::DeviceScan::ExclusiveScanByKey     work            rw - r rw w op op - op stream -
cub::DeviceScan::InclusiveScanByKey     work            rw - r rw w op - op stream -
# the forms with a `DoubleBuffer` have two or four pointers less: the last argument of the shorter form is a stream
cub::DeviceRadixSort::SortPairs{,Descending} work       rw - rw rw rw rw - op - stream -
cub::DeviceRadixSort::SortPairs{,Descending}/8 work     rw - rw rw rw rw - op+stream?
cub::DeviceRadixSort::SortKeys{,Descending} work        rw - rw rw - op - stream -
cub::DeviceRadixSort::SortKeys{,Descending}/7 work      rw - rw rw - op op+stream?
cub::DeviceSegmentedRadixSort::SortPairs{,Descending} work rw - rw rw rw rw - - r r - - stream -
cub::DeviceSegmentedRadixSort::SortPairs{,Descending}/11 work rw - rw rw rw rw r r - - stream
cub::DeviceSegmentedRadixSort::SortKeys{,Descending} work rw - rw rw - - r r - - stream -
cub::DeviceSegmentedRadixSort::SortKeys{,Descending}/10 work rw - rw rw - r r - - stream
cub::DeviceSegmentedSort::{SortPairs,StableSortPairs}{,Descending} work rw - rw rw rw rw - - r r stream
cub::DeviceSegmentedSort::{SortPairs,StableSortPairs}{,Descending}/9 work rw - rw rw - - r r stream
cub::DeviceSegmentedSort::{SortKeys,StableSortKeys}{,Descending} work rw - rw rw - - r r stream
cub::DeviceSegmentedSort::{SortKeys,StableSortKeys}{,Descending}/8 work rw - rw - - r r stream
cub::DeviceMergeSort::{SortPairs,StableSortPairs} work  rw - rw rw - op stream -
cub::DeviceMergeSort::SortPairsCopy     work            rw - r r w w - op stream -
cub::DeviceMergeSort::{SortKeys,StableSortKeys} work    rw - rw - op stream -
cub::DeviceMergeSort::{SortKeysCopy,StableSortKeysCopy} work rw - r w - op stream -
cub::DeviceMerge::MergePairs            work            rw - r r - r r - w w op stream
cub::DeviceMerge::MergeKeys             work            rw - r - r - w op stream
cub::DeviceSelect::Flagged              work            rw - r r w w - stream -
cub::DeviceSelect::Flagged/7            work            rw - rw r rw rw stream?
cub::DeviceSelect::If                   work            rw - r w w - op stream -
cub::DeviceSelect::If/7                 work            rw - rw rw rw op op+stream?
cub::DeviceSelect::FlaggedIf            work            rw - r r w w - op stream
cub::DeviceSelect::FlaggedIf/8          work            rw - rw r rw rw op op+stream?
cub::DeviceSelect::Unique               work            rw - r w w - stream -
cub::DeviceSelect::UniqueByKey          work            rw - r r w w w - stream -
cub::DeviceSelect::UniqueByKey/10       work            rw - r r w w w - op stream
cub::DevicePartition::Flagged           work            rw - r r w w - stream -
cub::DevicePartition::If                work            rw - r w w - op stream -
cub::DevicePartition::If/10             work            rw - r w w w w - op op
cub::DevicePartition::If/11             work            rw - r w w w w - op op stream
cub::DeviceHistogram::HistogramEven     work            rw - r w - - - - - - stream
cub::DeviceHistogram::HistogramEven/9   work            rw - r w - - - - stream
cub::DeviceHistogram::HistogramRange    work            rw - r w - r - - - stream
cub::DeviceHistogram::HistogramRange/8  work            rw - r w - r - stream
cub::DeviceHistogram::MultiHistogramEven work           rw - r params - - - - - - stream
cub::DeviceHistogram::MultiHistogramEven/9 work         rw - r params - - - - stream
cub::DeviceHistogram::MultiHistogramRange work          rw - r params - params - - - stream
cub::DeviceHistogram::MultiHistogramRange/8 work        rw - r params - params - stream
cub::DeviceRunLengthEncode::{Encode,NonTrivialRuns} work rw - r w w w - stream -
cub::DeviceSpmv::CsrMV                  work            rw - r r r r w - - - stream -
cub::Device{Copy,Memcpy}::Batched       work            rw - params params - - stream
cub::DeviceFor::Bulk                    work            - op stream
cub::DeviceFor::{ForEach,ForEachN,ForEachCopy,ForEachCopyN} work rw rw op stream
cub::DeviceTransform::{Transform,TransformStableArgumentAddresses} work params w - op stream
cub::DeviceAdjacentDifference::{SubtractLeft,SubtractRight} work rw - rw - op stream -
cub::DeviceAdjacentDifference::{SubtractLeftCopy,SubtractRightCopy} work rw - r w - op stream -
cub::{Sum,Min,Max,Equality,ArgMin,ArgMax,DiscardOutputIterator} host -*
cub::{TransformInputIterator,CountingInputIterator,ConstantInputIterator,CacheModifiedInputIterator,\
CacheModifiedOutputIterator,ArgIndexInputIterator,DoubleBuffer} host keep* ; \
returns=keeper
cub::DoubleBuffer.{Current,Alternate}   host            -       ; returns=same
cub::CachingDeviceAllocator             host            -*
cub::CachingDeviceAllocator.{DeviceAllocate,DeviceFree,FreeAllCached} external rw* ; why=CUB's allocator
"""

TABLES = (
    Table("Thrust, CCCL 3.0", _ALGORITHMS, templates=True),
    Table("Thrust, CCCL 3.0", _POINTERS, looks=False),
    Table("Thrust, CCCL 3.0", _METHODS),
    Table("CUB, CCCL 3.0", _CUB, templates=True),
)
