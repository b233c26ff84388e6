// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarriers, registers that warps share, dependent launches: each rule on a faulty kernel and its mended
// twin.
#include "Fixture.h"
#include <set>

namespace taylor::runtime::ptx {
namespace {

const Setting two{.threads = 64,
                  .declarations = ".shared .align 8 .b64 m[4];\n.shared .align 256 .b8 s[1024];\n"};

RunReport run(const std::string &body, uint64_t seed, Setting s = two) {
  s.options.seed = seed;
  return execute(body, {}, 0, s).report;
}

/// Whether every order of warps is free of faults.
void expectSilent(const std::string &body, const Setting &s = two) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    RunReport r = run(body, seed, s);
    ASSERT_FALSE(r.fault) << r.fault->message;
  }
}

/// A fault of this kind with every order of warps, whose message ends so.
void expectFault(const std::string &body, FaultKind kind, const std::string &end, const Setting &s = two) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    RunReport r = run(body, seed, s);
    ASSERT_TRUE(r.fault) << end;
    EXPECT_EQ(int(r.fault->kind), int(kind)) << r.fault->message;
    EXPECT_TRUE(r.fault->message.ends_with(end)) << r.fault->message;
  }
}

/// Thread 0 initialises an mbarrier of so many arrivals; %p0 is thread 0, %p1 warp 1.
std::string initialised(const std::string &count) {
  return "setp.eq.u32 %p0, %t, 0;\nsetp.ge.u32 %p1, %t, 32;\n@%p0 mbarrier.init.shared.b64 [m], " + count +
         ";\nbar.sync 0;\n";
}

std::string waitFor(const std::string &parity, const std::string &name = "W",
                    const std::string &mbarrier = "m") {
  return "{\n.reg .pred %q;\n" + name + ":\nmbarrier.try_wait.parity.shared.b64 %q, [" + mbarrier + "], " +
         parity + ";\n@!%q bra " + name + ";\n}\n";
}

const std::string own =
    "shl.b32 %r0, %t, 2;\nmov.u32 %r1, s;\nadd.u32 %r0, %r0, %r1;\nxor.b32 %r2, %r0, 128;\n";

TEST(PtxMbarrier,
     ArrivalsOrderWhatComesBeforeThem) { // each thread reads what its neighbour in the other warp wrote
  std::string body = own + initialised("64") + "st.shared.b32 [%r0], %t;\n",
              read = "ld.shared.b32 %o0, [%r2];\n";
  std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [m];\n";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Setting s = two;
    s.options.seed = seed;
    Result r = execute(body + arrive + waitFor("0") + read, {}, 1, s);
    ASSERT_FALSE(r.report.fault) << r.report.fault->message;
    for (unsigned t = 0; t < 64; ++t)
      EXPECT_EQ(r.outputs[0][t], t ^ 32);
    RunReport none = execute(body + arrive + read, {}, 1, s).report;
    ASSERT_TRUE(none.fault);
    // A relaxed arrival, or a relaxed wait, orders nothing.
    for (bool arrives : {true, false}) {
      std::string relaxed = body + arrive + waitFor("0") + read,
                  word = arrives ? "arrive" : "try_wait.parity";
      relaxed.replace(relaxed.find(word), word.size(), word + ".relaxed.cta");
      RunReport race = execute(relaxed, {}, 1, s).report;
      ASSERT_TRUE(race.fault);
      EXPECT_TRUE(race.fault->kind == FaultKind::Race) << race.fault->message;
    }
  }
}

// "bar.warp.sync also guarantees memory ordering among threads participating in barrier" (PTX ISA); nothing
// else orders lanes of a warp.
TEST(PtxMbarrier, ArrivalOfOneLaneTellsOfOthersAfterABarrierOfTheWarp) {
  std::string arrival = "@%p0 mbarrier.arrive.shared::cta.b64 _, [m];\n", sync = "bar.warp.sync -1;\n";
  auto neighbours = [&](const std::string &between, const std::string &first, const std::string &second) {
    return own + initialised("1") + "@%p1 bra SECOND;\n" + first + between + arrival + "bra END;\nSECOND:\n" +
           waitFor("0") + second + "END:\n";
  };
  std::string write = "st.shared.b32 [%r0], %t;\n", readOther = "ld.shared.b32 %o0, [%r2];\n",
              read = "mov.b32 %r7, 0;\nld.shared.b32 %o0, [%r2];\n",
              writeOther = "st.shared.b32 [%r2], %t;\n";
  expectSilent(neighbours(sync, write, readOther));
  expectFault(neighbours("", write, readOther), FaultKind::Race, "wrote at line 29 with no barrier between");
  // Reads before another warp's write, too: warp 0 reads what it wrote.
  std::string reads = write + sync + "ld.shared.b32 %o0, [%r0];\n";
  expectSilent(neighbours(sync, reads, writeOther));
  expectFault(neighbours("", reads, writeOther), FaultKind::Race, "read at line 31 with no barrier between");
  // One lane's own accesses need none, nor those of lanes that all arrive.
  expectSilent(neighbours("", "@%p0 " + write, "setp.eq.u32 %p2, %t, 32;\n@%p2 " + readOther));
  std::string all = neighbours("", write, readOther);
  all.replace(all.find(", 1;"), 4, ", 32;");
  all.replace(all.find(arrival), arrival.size(), arrival.substr(arrival.find("mbarrier")));
  expectSilent(all);
}

// What lanes ask of an mbarrier, and arrivals that they add, come before the arrival of one lane only by a
// barrier of the warp: else it may end the phase before.
TEST(PtxMbarrier, ArrivalOfOneLaneComesAfterTheOthersUses) {
  std::string arrival = "@%p0 mbarrier.arrive.shared::cta.b64 _, [m];\n", sync = "bar.warp.sync -1;\n";
  std::string test = "mbarrier.test_wait.parity.shared.b64 %p3, [m], 1;\n";
  std::string pieces = "@!%p1 cp.async.mbarrier.arrive.shared.b64 [m];\n";
  for (const std::string &use : {test, pieces}) {
    expectSilent(initialised("1") + use + sync + arrival);
    expectFault(
        initialised("1") + use + arrival, FaultKind::Race,
        "arrives at the mbarrier at 0x0, which lane 1 uses at line 24: requires bar.warp.sync between");
    expectSilent(initialised("1") + use + sync + arrival + waitFor("0"));
  }
  expectSilent(initialised("64") + test + "mbarrier.arrive.shared::cta.b64 _, [m];\n" + waitFor("0"));
}

TEST(PtxMbarrier, PhasesGoOn) { // warp 0 writes, warp 1 reads, four times by two mbarriers
  std::string body = own + initialised("32") +
                     "@%p0 mbarrier.init.shared.b64 [m+8], 32;\nbar.sync 0;\n"
                     "mov.u32 %r3, 0;\nNEXT:\nand.b32 %r4, %r3, 1;\nxor.b32 %r5, %r4, 1;\n"
                     "@%p1 bra READ;\n" +
                     waitFor("%r5", "W0", "m+8") +
                     "st.shared.b32 [%r0], %r3;\nmbarrier.arrive.shared.b64 %d0, [m];\nbra JOIN;\nREAD:\n" +
                     waitFor("%r4", "W1") +
                     "ld.shared.b32 %r6, [%r2];\nmbarrier.arrive.release.cta.shared.b64 %d0, [m+8];\nJOIN:\n"
                     "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 4;\n@%p2 bra NEXT;\n";
  expectSilent(body);
  auto broken = [&](const std::string &from, const std::string &to) {
    std::string text = body;
    text.replace(text.find(from), from.size(), to);
    unsigned faults = 0;
    for (uint64_t seed = 0; seed < 10; ++seed)
      faults += run(text, seed).fault.has_value();
    return faults;
  };
  EXPECT_EQ(broken("xor.b32 %r5, %r4, 1;", "mov.b32 %r5, %r4;"), 10u); // warp 0 waits first
  EXPECT_EQ(broken(waitFor("%r5", "W0", "m+8"), ""), 10u);
  EXPECT_EQ(broken(waitFor("%r4", "W1"), ""), 10u);
}

TEST(PtxMbarrier, StatesAndCounts) { // one arrival of 3, one of 1; a state is waited for
  std::string body = initialised("4") +
                     "@%p0 bra ONE;\nsetp.eq.u32 %p2, %t, 32;\n@%p2 mbarrier.arrive.shared.b64 "
                     "%d0, [m], 3;\n@!%p2 bra OUT;\nbra WAIT;\nONE:\nmbarrier.arrive.shared.b64 "
                     "%d0, [m];\nWAIT:\nmbarrier.KIND.shared.b64 %p3, [m], %d0;\n@!%p3 bra "
                     "WAIT;\nOUT:\n";
  for (const char *kind : {"try_wait", "test_wait"}) {
    std::string text = body;
    text.replace(text.find("KIND"), 4, kind);
    expectSilent(text);
  }
}

TEST(PtxMbarrier, AWaitMayFailOnce) { // so that code without a loop shows
  std::set<bool> seen;
  std::string body = initialised("1") +
                     "@%p1 bra WAIT;\nbar.arrive 1, 64;\n@%p0 mbarrier.arrive.shared.b64 _, "
                     "[m];\nbra OUT;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [m], "
                     "0;\nbar.sync 1, 64;\n@!%p2 trap;\nOUT:";
  for (uint64_t seed = 0; seed < 60; ++seed)
    seen.insert(run(body, seed).fault.has_value());
  EXPECT_EQ(seen, (std::set<bool>{false, true}));
}

TEST(PtxMbarrier, DeadlockTellsEveryPhase) {
  std::string end =
      "deadlock, no warp can go on:\n  warp 0: 32 lanes at line 26 'mbarrier.try_wait.parity.shared.b64',"
      " which waits for mbarrier 0x0\n  warp 1: has exited\n  mbarrier 0x0 of line 22: phase 0, 1 of 2 "
      "arrivals, 16 bytes missing";
  std::string body = initialised("2") +
                     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [m], 16;\n@%p1 bra OUT;\nW:\n"
                     "mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\n@!%p2 bra W;\nOUT:";
  body.replace(body.find("W:\n"), 3, "W: ");
  expectFault(body, FaultKind::Deadlock, end);
}

TEST(PtxMbarrier, Misuse) {
  std::string arrive = "mbarrier.arrive.shared.b64 _, [m]";
  expectFault("@%p7 bra L;\nL:" + arrive + ";", FaultKind::UninitialisedRegister,
              "reads '%p7', which has no value yet");
  expectFault(arrive + ";", FaultKind::Malformed,
              "expected an mbarrier at 0x0, but none is initialised there");
  expectFault(initialised("0"), FaultKind::Malformed, "expected a count of 1 to 1048575 arrivals, but got 0");
  expectFault(initialised("1") + "@%p0 mbarrier.init.shared.b64 [m], 1;", FaultKind::Malformed,
              "initialises the mbarrier at 0x0 again, since line 22: requires mbarrier.inval between");
  expectSilent(initialised("1") +
               "@%p0 mbarrier.inval.shared.b64 [m];\n@%p0 mbarrier.init.shared.b64 [m], 2;");
  expectFault(initialised("5") + "@%p0 " + arrive + ", 6;", FaultKind::Malformed,
              "expected 1 to 5 more arrivals in phase 0 of the mbarrier at 0x0, but got 6");
  expectFault(initialised("5") + "@%p0 " + arrive + ", 0;", FaultKind::Malformed,
              "expected 1 to 5 more arrivals in phase 0 of the mbarrier at 0x0, but got 0");
  expectFault(initialised("1") + "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [m], 1048576;",
              FaultKind::Malformed, "expected at most 1048575 bytes under way, but got 1048576");
  expectFault(initialised("1") + "@%p0 mbarrier.try_wait.parity.shared.b64 %p2, [m], 2;",
              FaultKind::Malformed, "expected a parity of 0 or 1, but got 2");
  expectFault(initialised("1") + "@%p0 mbarrier.test_wait.shared.b64 %p2, [m], 7;", FaultKind::Malformed,
              "expected a state of phase 0 or the one before, but got one of 7");
  Setting s = two;
  s.declarations += ".global .align 8 .b64 g[1];\n";
  expectFault("mov.u64 %d0, g;\nmbarrier.arrive.b64 _, [%d0];", FaultKind::OutOfBounds,
              "expected an address in shared memory", s);
}

TEST(PtxMbarrier, APhaseIsWaitedFor) { // before the next one begins
  std::string arrive = "@%p0 mbarrier.arrive.shared.b64 _, [m];\n";
  expectFault(initialised("1") + arrive + arrive, FaultKind::Malformed,
              "arrives at the mbarrier at 0x0 in phase 1, but no thread has waited for phase 0");
  expectSilent(initialised("1") + arrive + waitFor("0") + "bar.sync 0;\n" + arrive);
}

TEST(PtxMbarrier, ItsBytesAreItsOwn) {
  expectFault(initialised("1") + "@%p0 st.shared.b32 [m+4], 0;", FaultKind::Malformed,
              "writes shared address 0x4, that is an mbarrier at line 22: requires mbarrier.inval before it");
  expectFault(initialised("1") + "@%p0 ld.shared.b32 %r0, [m];", FaultKind::Malformed,
              "reads shared address 0x0, that is an mbarrier at line 22: requires mbarrier.inval before it");
  expectSilent(initialised("1") + "@%p0 mbarrier.inval.shared.b64 [m];\n@%p0 st.shared.b32 [m+4], 0;");
}

TEST(PtxMbarrier, InitialisedBeforeOthersUseIt) {
  std::string body = initialised("2") + "@%p0 mbarrier.arrive.shared.b64 _, [m];\n";
  std::string other = "setp.eq.u32 %p2, %t, 32;\n@%p2 mbarrier.arrive.shared.b64 _, [m];\n";
  expectSilent(body + other);
  std::string without = body + other;
  without.replace(without.find("bar.sync 0;"), 11, "");
  std::set<std::string> ends;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RunReport r = run(without, seed);
    ASSERT_TRUE(r.fault);
    ends.insert(r.fault->message.substr(r.fault->message.find("0,0): ") + 6));
  }
  EXPECT_EQ(ends,
            (std::set<std::string>{
                "expected an mbarrier at 0x0, but none is initialised there",
                "uses the mbarrier at 0x0, that warp 0 initialised at line 22 with no barrier between"}));
}

const std::string source = ".global .align 16 .b32 g[4] = {1, 2, 3, 4};\n";

TEST(PtxMbarrier, CopiesArriveWhenTheyAreComplete) { // warp 0 copies, warp 1 waits and reads
  Setting s = two;
  s.declarations += source;
  std::string copy =
                  "@%p1 bra READ;\nmov.u64 %d0, g;\nmov.u32 %r0, s;\nshl.b32 %r1, %t, 4;\nadd.u32 %r0, %r0, "
                  "%r1;\ncp.async.cg.shared.global [%r0], [%d0], 16;\n",
              rest = "bra OUT;\nREAD:\n" + waitFor("0") +
                     "ld.shared.b32 %r2, [s+84];\nsetp.ne.u32 %p3, %r2, 2;\n"
                     "@%p3 trap;\nOUT:\n";
  std::string counted = "cp.async.mbarrier.arrive.noinc.shared.b64 [m];\n";
  expectSilent(initialised("32") + copy + counted + rest, s);
  // Without .noinc the arrival is one more than those of the initialisation.
  expectSilent(initialised("32") + copy +
                   "cp.async.mbarrier.arrive.shared::cta.b64 [m];\nmbarrier.arrive.shared.b64 _, [m];\n" +
                   rest,
               s);
  // An arrival of the thread does not say that its copies are complete.
  for (uint64_t seed = 0; seed < 10; ++seed) {
    RunReport r = run(initialised("32") + copy + "mbarrier.arrive.shared.b64 _, [m];\n" + rest, seed, s);
    ASSERT_TRUE(r.fault);
    EXPECT_TRUE(r.fault->kind == FaultKind::InFlight || r.fault->kind == FaultKind::Race) << r.fault->message;
  }
  // Nor does an arrival concern later copies.
  std::string late = copy;
  late.insert(late.find("cp.async"), counted);
  for (uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_TRUE(run(initialised("32") + late + rest, seed, s).fault);
  // One more arrival has to fit.
  expectFault(initialised("1048575") + "@%p0 cp.async.mbarrier.arrive.shared.b64 [m];", FaultKind::Malformed,
              "expected at most 1048575 arrivals, but got one more", s);
  // What a wait of the thread has completed is known as well.
  expectSilent(initialised("32") + copy + "cp.async.wait_all;\n" + counted + rest, s);
  // A later arrival at another mbarrier, of later copies, may come first: it changes nothing for those who
  // wait for this one.
  std::string next = "cp.async.cg.shared.global [%r0+512], [%d0], 16;\n"
                     "cp.async.mbarrier.arrive.noinc.shared.b64 [m+8];\n";
  expectSilent(initialised("32") + "@%p0 mbarrier.init.shared.b64 [m+8], 32;\nbar.sync 0;\n" + copy +
                   counted + next + rest,
               s);
}

TEST(PtxMbarrier, RegistersComeFromAPool) { // 384 threads begin with 168 registers each
  Setting s{.threads = 384};
  std::string kernel =
      header +
      ".entry k(.param .u64 in, .param .u64 out) .reqntid 384 .minnctapersm 1\n{\n.reg .pred %p<2>;\n.reg "
      ".b32 %t;\nmov.u32 %t, %tid.x;\nsetp.lt.u32 %p0, %t, 128;\n@%p0 bra LESS;\n"
      "setmaxnreg.inc.sync.aligned.u32 MORE;\nret;\nLESS:\nsetmaxnreg.dec.sync.aligned.u32 "
      "FEWER;\nret;\n}\n";
  auto of = [&](const std::string &more, const std::string &fewer,
                const std::string &bounds = ".reqntid 384 .minnctapersm 1") {
    std::string text = kernel;
    text.replace(text.find("MORE"), 4, more);
    text.replace(text.find("FEWER"), 5, fewer);
    text.replace(text.find(".reqntid 384 .minnctapersm 1"), 28, bounds);
    const void *parameters[2] = {};
    RunReport r = launch(parse(text), "k", {}, {384}, 0, std::as_bytes(std::span(parameters)), {}, {});
    return r.fault ? r.fault->message.substr(r.fault->message.find("0,0): ") + 6) : "";
  };
  EXPECT_EQ(of("240", "24"), "");
  std::string deadlock = of("240", "32");
  EXPECT_TRUE(deadlock.starts_with("deadlock, no warp can go on:\n")) << deadlock;
  EXPECT_NE(deadlock.find("which waits for registers: "), std::string::npos) << deadlock;
  EXPECT_TRUE(of("160", "24").starts_with("expected at least 168 registers, which warp ")) << of("160", "24");
  EXPECT_TRUE(of("168", "176").starts_with("expected at most 168 registers, which warp "))
      << of("168", "176");
  for (const char *bounds : {"", ".reqntid 384", ".maxntid 384", ".minnctapersm 1"})
    EXPECT_EQ(of("240", "24", bounds),
              "requires .maxnreg, or .minnctapersm with .reqntid or .maxntid, without which "
              "ptxas ignores it");
  EXPECT_EQ(of("104", "24", ".maxnreg 100"), "");
  EXPECT_TRUE(of("80", "24", ".maxntid 384 .minnctapersm 2").empty());
  EXPECT_TRUE(of("136", "24", ".maxntid 384 .minnctapersm 2").starts_with("deadlock"));
  auto message = [](const std::string &line) { return errorOf(header + ".entry k() {\n" + line + "\n}\n"); };
  EXPECT_EQ(message("setmaxnreg.inc.sync.aligned.u32 20;"),
            "t.ptx:5:33: expected a multiple of 8 from 24 to 256 registers, but got 20");
  EXPECT_EQ(message("setmaxnreg.inc.sync.aligned.u32 100;"),
            "t.ptx:5:33: expected a multiple of 8 from 24 to 256 registers, but got 100");
  EXPECT_EQ(message("setmaxnreg.inc.sync.aligned.u32 264;"),
            "t.ptx:5:33: expected a multiple of 8 from 24 to 256 registers, but got 264");
}

TEST(PtxMbarrier, RegistersChangeInAllFourWarps) {
  std::string text =
      header +
      ".entry k() .reqntid 128 .minnctapersm 1\n{\n.reg .pred %p;\n.reg .b32 %t;\nmov.u32 %t, %tid.x;\n"
      "setp.lt.u32 %p, %t, 96;\n@%p setmaxnreg.dec.sync.aligned.u32 24;\nret;\n}\n";
  RunReport r = launch(parse(text), "k", {}, {128}, 0, {}, {}, {});
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::Divergent) << r.fault->message;
}

TEST(PtxMbarrier, DependentLaunch) {
  uint32_t data[2] = {3, 4};
  std::string text =
      header + ".entry k(.param .u64 p) {\n.reg .b64 %d;\n.reg .b32 %r;\ngriddepcontrol.launch_dependents;"
               "\nld.param.u64 %d, [p];\nWAIT\nld.global.b32 %r, [%d];\nret;\n}\n";
  auto of = [&](const std::string &wait, bool previous) {
    std::string t = text;
    t.replace(t.find("WAIT"), 4, wait);
    void *p = data;
    MemoryRange range{data, sizeof data, "data", false, previous};
    RunReport r = launch(parse(t), "k", {}, {1}, 0, std::as_bytes(std::span(&p, 1)), std::span(&range, 1));
    return r.fault ? r.fault->message.substr(r.fault->message.find(" address ")) : "";
  };
  char address[64];
  snprintf(address, sizeof address, " address 0x%llx",
           static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(data)));
  EXPECT_EQ(of("griddepcontrol.wait;", true), "");
  EXPECT_EQ(of("", false), "");
  EXPECT_EQ(of("", true), address + std::string(", but the previous kernel may still write 'data': requires "
                                                "griddepcontrol.wait before it"));
}

TEST(PtxMbarrier, Elected) { // one lane of the warp arrives for it
  expectSilent(initialised("2") + "elect.sync %r0|%p2, -1;\n@%p2 mbarrier.arrive.shared.b64 _, [m];\n" +
               waitFor("0"));
  expectFault(initialised("2") + "mbarrier.arrive.shared.b64 _, [m];\n" + waitFor("0"), FaultKind::Malformed,
              "no thread has waited for phase 0");
}

} // namespace
} // namespace taylor::runtime::ptx
