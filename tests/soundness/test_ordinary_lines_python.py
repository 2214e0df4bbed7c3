r"""Ordinary lines of Python, as most programs have them: none stands in the way of a proof, or is taken for more than
it is. Each row stands between the blocking copy back of a program on the default stream and its free; `\n` is the end
of a line.
"""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from tests.soundness.test_ways_to_memory import cases

LINES = r"""
print(values)
print(values[:5], values.shape, values.dtype)
print("max", values.max(), "at", values.argmax())
print(f"{values.mean():.3f} {n:>5d} {text!r}")
print("%d of %d" % (n, len(items)))
print("{} {}".format(n, values.sum()), file=sys.stderr, flush=True)
print(*items, sep=", ", end="")
sys.stdout.write(f"{n} ")
sys.stdout.flush()
pprint.pprint({"n": n, "items": items})
logging.info("read %d values", n)
logging.getLogger(__name__).debug(f"{values.nbytes} bytes")
log.warning("slow: %s", text)
warnings.warn("deprecated")
out = values.astype(np.float32)
out = values.reshape(4, 5)
out = values.reshape(-1, 4).T.copy()
out = np.zeros((4, 5), dtype=np.float32); out[0, 0] = 1
out = np.empty_like(values); out[:] = values
out = np.sqrt(values) + np.exp(-values / n)
out = np.dot(values, values)
out = values @ values
out = np.where(values > 3, values, 0)
out = np.argsort(values)[::-1]
out = np.concatenate([values, values]).sum()
out = np.stack([values, values], axis=0)
out = np.random.rand(3, 4).astype(np.float32)
out = np.random.default_rng(0).normal(size=(2, 3))
np.random.seed(0); np.set_printoptions(precision=3)
out = np.linalg.norm(values)
out = np.allclose(values, values * 2)
np.testing.assert_allclose(values, values)
assert np.array_equal(values, values), "differs"
assert (values == values).all()
out = np.unique(values, return_counts=True)
out = np.ascontiguousarray(values.transpose())
out = np.expand_dims(values, 0); out = np.squeeze(out)
out = values[values > 2]
out = values.tolist()
out = values.clip(0, 255).astype(np.uint8)
values += 1
values[3] = 7
values.sort()
values.fill(0)
np.save("x.npy", values)
np.savez("x.npz", a=values)
np.savetxt("x.txt", values)
values.tofile("x.bin")
out = np.load("x.npy")
out = np.fromfile("x.bin", dtype=np.int32)
out = [x * 2 for x in values]
out = {i: x for i, x in enumerate(values)}
out = sum(x for x in values if x > 2)
out = sorted(items, key=lambda x: -x)
out = max(items, key=abs)
out = list(map(int, ["1", "2"]))
out = list(zip(items, values))
out = dict(zip(["a", "b"], items))
out = any(x > 1 for x in items) or all(items)
out = [[0] * 3 for _ in range(3)]
items.append(n); items.extend([1, 2]); items.sort(reverse=True)
items[0], items[1] = items[1], items[0]
first, *rest = items
parser = argparse.ArgumentParser(); parser.add_argument("-n", type=int, default=1 << 20, help="how many")
parser = argparse.ArgumentParser(); parser.add_argument("-j", default=os.cpu_count(), choices=items)
parser = argparse.ArgumentParser(); parser.add_argument("-o", default=os.path.join("a", "b"))
a, b = divmod(n, 3)
out = items[-1] if items else None
out = text.upper().split(",")[0].strip()
out = ", ".join(str(x) for x in items)
out = text + "_" + str(n) + ".png"
out = "a" in text and not text.startswith("b")
out = re.sub(r"\d+", "", text)
out = re.match(r"(\w+)_(\d+)", text)
out = text.encode("utf-8").hex()
for i in range(n): items.append(i)
for i, x in enumerate(values): items.append(x)
for name, x in {"a": 1}.items(): print(name, x)
for x, y in zip(items, values): n += x
for line in open("x"): items.append(line)
for x in tqdm.tqdm(items): n += x
for row in values.reshape(4, 5): print(row)
while n > 3: n -= 1
if n > 3 and values[0] != 0: n = 2
if not np.isnan(values).any(): n = 3
if args.verbose: print("verbose")
try: n = int(text)\nexcept ValueError: n = 0
try: n = int(text)\nexcept (ValueError, TypeError) as e: print(e)
try: n = int(text)\nexcept Exception as e: logging.error("failed: %s", e)
try: n = items.index(3)\nexcept ValueError: pass\nelse: n = 1\nfinally: n += 1
with open("x.txt", "w") as f: f.write(f"{n}")
with open("x.json") as f: out = json.load(f)
with open("x.json", "w") as f: json.dump({"n": n}, f, indent=2)
with open("x.bin", "wb") as f: f.write(values.tobytes())
with open("x.csv", newline="") as f: out = list(csv.reader(f))
with contextlib.suppress(OSError): os.remove("x")
with tempfile.TemporaryDirectory() as folder: print(folder)
with np.errstate(divide="ignore"): out = values / 0
with warnings.catch_warnings(): warnings.simplefilter("ignore")
out = json.dumps({"n": n, "items": items})
out = json.loads("[1]")
pickle.dump(values, open("x", "wb"))
out = csv.writer(open("x", "w"))
t = time.time()
t = time.perf_counter()
start = time.perf_counter(); n += 1; print(f"{(time.perf_counter() - start) * 1000:.2f} ms")
print(datetime.datetime.now().strftime("%H:%M"))
time.sleep(0.1)
out = os.path.join("a", "b.txt")
out = os.path.exists("x") and os.path.getsize("x") > 0
os.makedirs("out", exist_ok=True)
out = os.listdir(".")
out = os.environ.get("HOME", "")
out = pathlib.Path("a") / "b.txt"
out = pathlib.Path("a").with_suffix(".png").name
pathlib.Path("out").mkdir(parents=True, exist_ok=True)
out = sorted(pathlib.Path(".").glob("*.png"))
out = glob.glob("*.jpg")
shutil.copy("a", "b")
out = sys.argv[1] if len(sys.argv) > 1 else "x"
out = sys.getsizeof(items)
parser = argparse.ArgumentParser(description="x"); parser.add_argument("--n", type=int, default=3); out = parser.parse_args([])
out = collections.Counter(items).most_common(3)
out = collections.defaultdict(list); out["a"].append(1)
out = collections.deque(maxlen=3); out.append(1)
out = Pair(1, n); print(out.x)
out = itertools.product(items, items)
out = list(itertools.chain(items, [1]))
out = functools.reduce(lambda x, y: x + y, items)
out = math.ceil(n / 256) + math.sqrt(2)
out = random.choice(items); random.shuffle(items)
out = struct.pack("<I", n) + bytes(4)
out = hashlib.md5(values.tobytes()).hexdigest()
out = copy.deepcopy(items)
out = uuid.uuid4()
out = platform.system()
out = textwrap.dedent(text)
out = base64.b64encode(b"x").decode()
gc.collect()
out = isinstance(n, int) and hasattr(text, "upper") and callable(print)
out = type(n).__name__
out = getattr(args, "size", 3)
out = lambda x: x + n
out = Point(n).norm() + Point(3).twice
print(Point(n))
out = Size(4).area()
def helper(x): return x * 2\nout = helper(n)
def helper(x, y=3): return x * y\nout = [helper(x) for x in items]
def helper(f, x): return f(x)\nout = helper(lambda x: x + 1, n)
match n:\n    case 1: out = "one"\n    case 2 | 3: out = "few"\n    case _: out = "many"
match items:\n    case [x, *rest]: out = x\n    case _: out = None
if (m := len(items)) > 2: n = m
out = image.resize((64, 64)); out = np.asarray(image)
out = Image.open("x.jpg").convert("RGB"); out = np.array(out, dtype=np.float32) / 255
Image.fromarray(values.astype(np.uint8)).save("y.png")
img = cv2.imread("x.jpg"); img = cv2.resize(img, (64, 64)); img = cv2.cvtColor(img, cv2.COLOR_BGR2RGB)
cv2.imwrite("y.jpg", values.reshape(4, 5))
cv2.rectangle(values, (0, 0), (3, 3), (255, 0, 0), 2)
plt.plot(values); plt.title("x"); plt.savefig("x.png")
plt.figure(figsize=(3, 4)); plt.imshow(values.reshape(4, 5)); plt.close()
frame = pd.DataFrame({"a": values}); print(frame.describe())
del items[0]
del text
global COUNT; COUNT = COUNT + 1
STATE["n"] = n
if n > 99: raise RuntimeError(f"bad {n}")
if n > 99: sys.exit(1)
"""
PROGRAM = """\
import argparse, base64, collections, contextlib, copy, csv, dataclasses, datetime, functools, gc, glob, hashlib, itertools
import json, logging, math, os, pathlib, pickle, platform, pprint, random, re, shutil, struct, sys, tempfile, textwrap
import time, uuid, warnings
import cv2
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tqdm
from PIL import Image
from cuda.bindings import driver, runtime as cudart

COUNT = 0
STATE = {}
Pair = collections.namedtuple("Pair", "x y")
log = logging.getLogger("x")

@dataclasses.dataclass
class Size:
    width: int = 3
    name: str = "x"
    def area(self): return self.width * self.width

class Point:
    def __init__(self, x): self.x = x
    def __repr__(self): return f"Point({self.x})"
    @property
    def twice(self): return self.x * 2
    def norm(self): return abs(self.x)

def check(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return None if len(result) == 1 else result[1] if len(result) == 2 else result[1:]

def main(args):
    values, n, items, text = np.arange(20, dtype=np.int32), 20, [3, 1, 2], "a_1"
    image = Image.open("x.jpg")
    d = check(cudart.cudaMalloc(80))
    check(cudart.cudaMemcpy(d, values.ctypes.data, 80, cudart.cudaMemcpyKind.cudaMemcpyHostToDevice))
    check(cudart.cudaMemsetAsync(d, 1, 80, 0))
    check(cudart.cudaMemcpy(values.ctypes.data, d, 80, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost))
LINE
    check(cudart.cudaFree(d))

parser = argparse.ArgumentParser()
parser.add_argument("--verbose", action="store_true")
main(parser.parse_args())
"""


@pytest.mark.parametrize("line", cases(LINES))
def test_an_ordinary_line_does_not_stand_in_the_way(line: str) -> None:
    indented = "".join(f"    {one}\n" for one in line.split("\\n"))
    source = PROGRAM.replace("LINE\n", indented)
    compile(source, "main.py", "exec")
    report = analyze({"main.py": source.encode()}, Config())
    assert not report.problems
    assert not report.refusals
    assert {(f.codemod, f.safety) for f in report.findings} == {("python_stream_ordered_pairs", Safety.PROVEN)}
