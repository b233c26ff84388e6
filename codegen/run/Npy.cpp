// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace taylor::run;

static constexpr char kMagic[] = "\x93NUMPY";

static Error error(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

namespace {

/// The header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> sizes;
  size_t dataBegin = 0;
};

/// The text after `'key':`, or nothing.
std::optional<StringRef> valueOf(StringRef dictionary, StringRef key) {
  for (const char *quote : {"'", "\""}) {
    size_t at = dictionary.find((quote + key + quote).str());
    if (at == StringRef::npos)
      continue;
    StringRef rest = dictionary.substr(at + key.size() + 2).ltrim();
    if (rest.consume_front(":"))
      return rest.ltrim();
  }
  return std::nullopt;
}

Expected<Header> parseHeader(StringRef file, const std::string &path) {
  auto bad = [&](const Twine &what) { return error("expected a .npy file, but '" + path + "' " + what); };
  if (!file.starts_with(StringRef(kMagic, 6)))
    return bad("does not start with NumPy's magic number");
  if (file.size() < 12)
    return bad("is truncated in its header");
  unsigned version = file[6];
  size_t lengthBytes = version == 1 ? 2 : 4, begin = 8 + lengthBytes;
  if (version < 1 || version > 3)
    return bad("has format version " + Twine(version) + ", not 1, 2 or 3");
  size_t length =
      version == 1 ? support::endian::read16le(file.data() + 8) : support::endian::read32le(file.data() + 8);
  if (file.size() < begin + length)
    return bad("is truncated in its header");
  StringRef dictionary = file.substr(begin, length);
  Header header;
  header.dataBegin = begin + length;
  std::optional<StringRef> descr = valueOf(dictionary, "descr"), order = valueOf(dictionary, "fortran_order"),
                           shape = valueOf(dictionary, "shape");
  if (!descr || !order || !shape || descr->empty())
    return bad("has a header without descr, fortran_order or shape");
  if (descr->front() != '\'' && descr->front() != '"')
    return error("unsupported record type in '" + path + "'; save a plain array with numpy.save");
  header.descr = descr->drop_front().take_until([&](char c) { return c == descr->front(); }).str();
  header.fortran = order->starts_with("True");
  if (!shape->consume_front("("))
    return bad("has a header whose shape is no tuple");
  SmallVector<StringRef> sizes;
  shape->take_until([](char c) { return c == ')'; }).split(sizes, ',', -1, /*KeepEmpty=*/false);
  for (StringRef text : sizes) {
    int64_t size;
    if (text.trim().empty())
      continue;
    if (text.trim().getAsInteger(10, size) || size < 0)
      return bad("has the size '" + text.trim() + "' in its header");
    header.sizes.push_back(size);
  }
  return header;
}

Real readElement(const char *at, Dtype dtype) {
  uint64_t bits = dtype == Dtype::F64 ? support::endian::read64le(at) : support::endian::read32le(at);
  if (dtype == Dtype::F64)
    return bit_cast<double>(bits);
  return dtype == Dtype::F32 ? Real(bit_cast<float>(static_cast<uint32_t>(bits)))
                             : Real(static_cast<int32_t>(bits));
}

/// Elements in column-major order, brought into row-major order.
std::vector<Real> transposed(ArrayRef<Real> values, ArrayRef<int64_t> sizes) {
  std::vector<Real> result(values.size());
  std::vector<int64_t> point(sizes.size(), 0);
  for (size_t from = 0; from < values.size(); ++from) {
    int64_t to = 0;
    for (size_t axis = 0; axis < sizes.size(); ++axis)
      to = to * sizes[axis] + point[axis];
    result[to] = values[from];
    for (size_t axis = 0; axis < sizes.size() && ++point[axis] == sizes[axis]; ++axis)
      point[axis] = 0;
  }
  return result;
}

} // namespace

Expected<NpyArray> taylor::run::readNpy(const std::string &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error("cannot read '" + path + "': " + buffer.getError().message());
  StringRef file = (*buffer)->getBuffer();
  Expected<Header> header = parseHeader(file, path);
  if (!header)
    return header.takeError();
  NpyArray array;
  array.sizes = header->sizes;
  if (header->descr == "<f4")
    array.dtype = Dtype::F32;
  else if (header->descr == "<f8")
    array.dtype = Dtype::F64;
  else if (header->descr == "<i4")
    array.dtype = Dtype::I32;
  else
    return error("unsupported element type '" + header->descr + "' in '" + path +
                 "'; save it as float32, float64 or int32 (bfloat16 as float32: --dtype=bf16 rounds it)");
  size_t width = array.dtype == Dtype::F64 ? 8 : 4, count = 1, bytes = file.size() - header->dataBegin;
  constexpr size_t kMost = size_t(1) << 40;
  for (int64_t size : array.sizes)
    count = size && count > kMost / size ? kMost : count * size;
  if (bytes != count * width)
    return error("expected " + Twine(count) + (count == kMost ? " or more" : "") + " elements of " +
                 Twine(width) + " bytes in '" + path + "', but got " + Twine(bytes) + " bytes");
  for (size_t i = 0; i < count; ++i)
    array.values.push_back(readElement(file.data() + header->dataBegin + i * width, array.dtype));
  if (header->fortran && array.sizes.size() > 1)
    array.values = transposed(array.values, array.sizes);
  return array;
}

Error taylor::run::writeNpy(const std::string &path, ArrayRef<int64_t> sizes, ArrayRef<Real> values,
                            Dtype dtype) {
  std::string shape;
  for (int64_t size : sizes)
    shape += std::to_string(size) + ",";
  StringRef descr = dtype == Dtype::F64 ? "<f8" : dtype == Dtype::I32 ? "<i4" : "<f4";
  std::string header =
      ("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }").str();
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';

  std::string data(kMagic, 6);
  data += {'\x01', '\x00', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  data += header;
  for (Real value : values) {
    char bytes[8];
    size_t width = 4;
    if (dtype == Dtype::F64) {
      support::endian::write64le(bytes, bit_cast<uint64_t>(static_cast<double>(value)));
      width = 8;
    } else if (dtype == Dtype::I32) {
      support::endian::write32le(bytes, static_cast<int32_t>(value));
    } else {
      support::endian::write32le(bytes, bit_cast<uint32_t>(static_cast<float>(value)));
    }
    data.append(bytes, width);
  }
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(path + ".%%%%%%");
  if (!file)
    return error("cannot write '" + path + "': " + toString(file.takeError()));
  raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << data;
  stream.flush();
  if (stream.has_error()) {
    std::string reason = stream.error().message();
    stream.clear_error();
    consumeError(file->discard());
    return error("cannot write '" + path + "': " + reason);
  }
  if (Error failed = file->keep(path))
    return error("cannot write '" + path + "': " + toString(std::move(failed)));
  return Error::success();
}
