// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A parsed program: instructions that are ready to run, and where every name lives.
#ifndef TAYLOR_RUNTIME_PTX_PROGRAM_H
#define TAYLOR_RUNTIME_PTX_PROGRAM_H
#include "runtime/ptx/Interpreter.h"
#include <map>

namespace taylor::runtime::ptx {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64
};
unsigned bytesOf(Type);
bool isFloat(Type);
bool isSigned(Type);
/// The type named by a word without its dot, or None.
Type typeNamed(std::string_view);
const char *nameOf(Type);

/// 0x and hexadecimal digits, as all messages write addresses.
std::string hexadecimal(uint64_t);

enum class Space : uint8_t { Generic, Shared, Global, Param, Const, Local };
enum class Round : uint8_t { Nearest, Zero, Down, Up, NearestAway };
enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class Logic : uint8_t { None, And, Or, Xor };
/// What atom, red and redux compute.
enum class Combine : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor, Exchange, CompareSwap };
enum class Lane : uint8_t { Up, Down, Butterfly, Index };
enum class Vote : uint8_t { All, Any, Uniform, Ballot };
/// prmt's modes (PTX ISA, "prmt").
enum class Permute : uint8_t { Index, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

enum class Op : uint8_t {
  Mov,
  Pack,
  Unpack,
  Add,
  Sub,
  Mul,
  MulHi,
  MulWide,
  Mad,
  MadHi,
  MadWide,
  Fma,
  Div,
  Rem,
  Min,
  Max,
  Abs,
  Neg,
  And,
  Or,
  Xor,
  Not,
  Cnot,
  Shl,
  Shr,
  ShfLeft,
  ShfRight,
  Bfe,
  Bfi,
  Prmt,
  Lop3,
  Selp,
  Setp,
  Set,
  Popc,
  Clz,
  Brev,
  Copysign,
  Ex2,
  Lg2,
  Rcp,
  Rsqrt,
  Sqrt,
  Sin,
  Cos,
  Tanh,
  Cvt,
  CvtPair,
  Cvta,
  Ld,
  St,
  Atom,
  Red,
  CpAsync,
  CpAsyncCommit,
  CpAsyncWait,
  CpAsyncArrive,
  BulkLoad,
  BulkStore,
  BulkCommit,
  BulkWait,
  Ldmatrix,
  Stmatrix,
  Mma,
  Wgmma,
  WgmmaFence,
  WgmmaCommit,
  WgmmaWait,
  Shfl,
  VoteSync,
  Activemask,
  Redux,
  Elect,
  BarSync,
  BarArrive,
  WarpSync,
  Fence,
  ProxyFence,
  MbarrierInit,
  MbarrierInval,
  MbarrierArrive,
  MbarrierExpect,
  MbarrierTry,
  MbarrierTest,
  MbarrierFence,
  SetMaxRegisters,
  GridWait,
  Bra,
  Brx,
  Exit,
  Trap,
  Nop
};

/// Where an operand's 32 lanes lie. Constants, addresses of variables and special registers are registers
/// that are filled beforehand, so that an instruction only ever reads registers.
struct Operand {
  uint32_t id = 0; ///< index into Kernel::registers
  uint32_t at = 0; ///< byte offset in a warp's register file; for predicates the index of the mask
  Type type = Type::None;
  bool negated = false; ///< !p
};

struct Instruction;
struct Warp;
/// Executes one instruction for the lanes of the mask.
using Handler = void (*)(Warp &, const Instruction &, uint32_t mask);

struct Instruction {
  Op op = Op::Nop;
  Type type = Type::None; ///< of the result, unless the op says otherwise
  Type from = Type::None; ///< of the sources where it differs: cvt, set, mma's operands
  Space space = Space::Generic;
  Round round = Round::Nearest;
  Compare compare = Compare::Eq;
  Logic logic = Logic::None;
  Combine combine = Combine::Add;
  Lane lane = Lane::Index;
  Vote vote = Vote::All;
  Permute permute = Permute::Index;
  uint8_t vector =
      1; ///< elements of a vector access; matrices of ldmatrix; k of mma and wgmma; rank of a box
  bool ftz = false, sat = false, relu = false, nan = false,
       integral = false; ///< integral: cvt.rni and its like
  bool transposed = false, aligned = false, wrap = false, all = false;
  bool strong = false; ///< volatile, relaxed, acquire, release or atomic
  bool to = false;     ///< cvta.to: from generic
  /// wgmma: a comes in registers; operands are negated or transposed
  bool leftInRegisters = false, negatesLeft = false, negatesRight = false, transposesLeft = false,
       transposesRight = false;
  bool expectsBytes = false, parity = false, relaxed = false; ///< mbarrier.arrive, try_wait, test_wait
  bool counted = false;   ///< cp.async.mbarrier.arrive.noinc: the mbarrier was initialised with this arrival
  bool readsOnly = false; ///< cp.async.bulk.wait_group.read
  bool releases = false;  ///< setmaxnreg.dec
  bool isWatched = false; ///< names a register that a wgmma of the kernel uses
  uint8_t results = 0;    ///< the first operands are results
  std::vector<Operand> operands;
  /// Bytes, of address operands: the only one, or that in shared memory; the second one, or a tensor map's;
  /// an mbarrier's next to these
  int64_t offset = 0, offset2 = 0, offset3 = 0;
  int64_t count = 0;   ///< cp.async: bytes; wait_group: groups that may stay; wgmma: columns; setmaxnreg
  uint32_t target = 0; ///< bra; brx: index of the target list
  bool guarded = false;
  Operand guard;
  Profile::Class kind = Profile::Integer;
  unsigned line = 0, column = 0;
  std::string text;      ///< the mnemonic, for messages
  Handler run = nullptr; ///< null for control flow and barriers, which the scheduler executes
};

struct Register {
  std::string name;
  Type type;
  uint32_t at;
};

/// A register that holds a value before the first instruction.
struct Constant {
  Operand to;
  uint64_t value;
  bool dynamicShared = false; ///< value is relative to the dynamic part
};

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  MaskEq,
  MaskLe,
  MaskLt,
  MaskGe,
  MaskGt,
  DynamicShared,
  TotalShared
};
struct SpecialUse {
  Operand to;
  Special special;
};

struct Kernel {
  KernelSignature info;
  std::vector<Instruction> code; ///< ends with an Exit that falls off the end
  std::vector<Register> registers;
  std::vector<Constant> constants;
  std::vector<SpecialUse> specials;
  std::vector<std::vector<uint32_t>> targetLists;
  size_t registerBytes = 0;                                ///< of one warp
  size_t masks = 0;                                        ///< predicates of one warp
  size_t dynamicBase = 0;                                  ///< offset of dynamic shared memory
  size_t localBytes = 0;                                   ///< per thread
  bool hasProducts = false, hasCopies = false;             ///< wgmma; copies that complete by themselves
  unsigned blocksPerMultiprocessor = 0, mostRegisters = 0; ///< .minnctapersm, .maxnreg; 0 if absent
};

/// A .global or .const variable.
struct Variable {
  std::string name;
  std::unique_ptr<std::byte[]> memory; ///< aligned by hand: `data`
  std::byte *data;
  size_t bytes;
  bool writable;
};

struct ParsedModule {
  std::string name;
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;
};

/// Chooses the function that executes an instruction; null if no type of this combination is supported.
Handler handlerFor(const Instruction &);

} // namespace taylor::runtime::ptx

#endif
