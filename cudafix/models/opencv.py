"""OpenCV: the OpenCV 4 documentation (`core`, `imgproc`, `imgcodecs`, `videoio`, `highgui`).

Functions of `cv` work on the host and before they return. A `cv::Mat` may be the owner of its pixels, share them with
others, or lie over memory of the program's own that it was given the address of, pinned or managed; which one is not
followed: whatever takes part in a call is `hidden`, so it may read and write all memory that the host can see. What has
windows, files and devices is output. `cv::cuda` and the other parts that may work on the device, on streams of their
own, have no table; neither have those that call functions of the program's, or run in threads.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_VALUES = """
cv::{Scalar,Scalar_,Point,Point_,Point2i,Point2f,Point2d,Point2l,Point3_,Point3i,Point3f,Point3d,Size,Size_,Size2i,\
Size2f,Size2d,Size2l,Rect,Rect_,Rect2i,Rect2f,Rect2d,RotatedRect,Range,TermCriteria,Complex,Complexf,Complexd} host hr*
cv::{Vec,Vec2b,Vec3b,Vec4b,Vec2s,Vec3s,Vec4s,Vec2w,Vec3w,Vec4w,Vec2i,Vec3i,Vec4i,Vec6i,Vec8i,Vec2f,Vec3f,Vec4f,Vec6f,\
Vec2d,Vec3d,Vec4d,Vec6d} host hr*
cv::{Scalar,Point,Size,Rect,RotatedRect,Range,Vec,Complex}*.* host hr*
cv::{VideoWriter::fourcc,String,format} host    hr*
cv::{getTickCount,getCPUTickCount,getTickFrequency} clock              ; returns=time
cv::TickMeter*.*                        clock   hidden*
"""

_OUT_OF_REACH = """
cv::*::*                                external rw*    ; why=OpenCV: a part that may work on the device
cv::{setMouseCallback,createTrackbar,setTrackbarPos,createButton,setOpenGlDrawCallback,setOpenGlContext,updateWindow,\
redirectError,glob} external rw* ; why=OpenCV: functions that the window system calls
cv::{parallel_for_,startWindowThread,setNumThreads,Mutex,AutoLock} external rw* ; why=OpenCV: runs in another host \
thread
cv::{UMat,Ptr,makePtr,Algorithm,GMat,AsyncArray} external rw*          ; why=OpenCV: an object that is not followed
"""

_FUNCTIONS = """
cv::{imshow,imwrite,imwritemulti,namedWindow,destroyWindow,destroyAllWindows,moveWindow,resizeWindow,setWindowTitle,\
setWindowProperty,waitKey,waitKeyEx,pollKey,displayOverlay,displayStatusBar,VideoWriter,FileStorage} output hidden* ; \
anywhere
cv::{VideoWriter,FileStorage}*.*        output  hidden* ; anywhere
# a camera: which picture comes, and when it was taken
cv::VideoCapture{,*.*}                  host    hidden* ; anywhere timed
cv::Mat*.forEach                        external rw*    ; why=OpenCV: runs in another host thread
cv::{Mat,Mat_,Mat1b,Mat1f,Mat3b,Mat3f,Mat1i,Mat1d}.{empty,total,channels,depth,type,elemSize,elemSize1,step1,size,\
isContinuous,isSubmatrix,dot} host hidden*
cv::Mat*.*                              host    hidden*         ; returns=hidden
cv::{Mat,Mat_}::{zeros,ones,eye,diag}   host    hidden*         ; returns=hidden
cv::{Mat,Mat_,Mat1b,Mat1f,Mat3b,Mat3f,Mat1i,Mat1d,imread,imdecode,repeat,noArray,getGaussianKernel,\
getStructuringElement,getRotationMatrix2D,getPerspectiveTransform,getAffineTransform} host hidden* ; returns=hidden
cv::*                                   host    hidden* ; anywhere returns=hidden
"""

TABLES = tuple(Table("OpenCV 4 documentation", rows, looks=False) for rows in (_VALUES, _OUT_OF_REACH, _FUNCTIONS))
