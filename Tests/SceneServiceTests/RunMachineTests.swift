import Messages
import Primitives
import SceneService
import TestKit
import Testing

/// The run as a value: events in, arrivals out.
@Suite struct RunMachineTests {
    private static let start = WallTime(millisecondsSince1970: 1_800_000_000_000)

    private static func map(
        _ templateId: String, _ capabilities: ClientCapabilities = ClientCapabilities(),
        _ policy: SchemePolicy = .standard
    ) throws -> SceneMap {
        let scheme = Scheme(
            schemeCode: "FA00000000000001", version: 1, name: "x", owner: "o", app: AppIdentity(),
            policy: policy, disabled: false, createdAtMilliseconds: 0, updatedAtMilliseconds: 0)
        return try #require(
            SceneMap(scheme: scheme, templateId: templateId, capabilities: capabilities))
    }

    private static func trail(_ run: SceneRun) -> [String] {
        run.notes.map { note in
            let node = note.nodeId.map { String($0.suffix(3)) } ?? "-"
            return "\(note.step) \(node) \(note.name)"
                + (note.resultCode.map { " \($0)" } ?? "")
        }
    }

    @Test("100001: begin, judge, split, wait, leave with a proof, end passed")
    func login() throws {
        let map = try Self.map("100001")
        var run = SceneRun(startedAt: Self.start, numbers: RunNumbers())
        guard case .judgeDevice(let device) = run.begin(on: map) else {
            Issue.record("the first node judges the device")
            return
        }
        guard case .split(let splitter) = run.judged(.safe, at: device, on: map) else {
            Issue.record("a safe device comes to the splitter")
            return
        }
        #expect(run.split(to: ["300000100001004"], at: splitter, on: map) == .waits)
        #expect(
            run.leave(by: .success, proven: Neighbours.number("+8613800000001"), on: map) == .ended)
        #expect(run.state == .passed)
        #expect(run.endCode == 110_005)
        #expect(
            Self.trail(run) == [
                "1 001 entered", "1 001 passed 700001", "2 002 entered", "2 002 passed",
                "3 004 entered", "3 004 passed", "4 006 entered", "4 006 passed",
                "5 - ended 110005",
            ])
    }

    @Test("the success edge without a proof never passes, whatever the graph")
    func noProof() throws {
        let map = try Self.map("100005")
        var run = SceneRun(startedAt: Self.start, numbers: RunNumbers())
        guard case .judgeDevice(let device) = run.begin(on: map) else { return }
        #expect(run.judged(.safe, at: device, on: map) == .waits)
        #expect(run.leave(by: .success, on: map) == .ended)
        #expect(run.state == .failed)
        #expect(run.endCode == 200_001)
    }

    @Test("every verdict on a device has its code and edge")
    func verdicts() throws {
        let map = try Self.map("100004")
        for (verdict, code, node) in [
            (DeviceVerdict.safe, 700_001, "003"), (.frequency, 700_002, "004"),
            (.risk, 700_003, "004"), (.unknownDevice, 700_004, "004"),
        ] {
            var run = SceneRun(startedAt: Self.start, numbers: RunNumbers())
            guard case .judgeDevice(let device) = run.begin(on: map) else { return }
            let arrival = run.judged(verdict, at: device, on: map)
            #expect(run.notes.compactMap(\.resultCode) == [code])
            #expect(run.nodeId?.hasSuffix(node) == true)
            if node == "004" {
                let upgoing = try #require(run.nodeId.flatMap(map.node))
                #expect(arrival == .openUpgoing(upgoing))
            } else {
                #expect(arrival == .waits)
            }
        }
    }

    @Test("nothing moves a run that has ended")
    func afterEnd() throws {
        let map = try Self.map("100005")
        var run = SceneRun(startedAt: Self.start, numbers: RunNumbers())
        _ = run.begin(on: map)
        run.stop(proven: nil)
        #expect(run.state == .stopped)
        let ended = run
        #expect(
            run.leave(by: .success, proven: Neighbours.number("+8613800000001"), on: map) == .ended)
        #expect(run.leave(by: .failure, on: map) == .ended)
        #expect(run.leave(for: "300000100005003", on: map) == .ended)
        run.stop(proven: Neighbours.number("+8613800000001"))
        #expect(run == ended)
    }

    @Test("a graph that only leads in circles ends as failed instead of walking on")
    func circles() throws {
        func id(_ number: Int) -> String { "30000090000300\(number)" }
        let graph = SceneGraph(
            templateId: "900003", name: "Circle", begin: id(1),
            nodes: [
                SceneNode(nodeId: id(1), kind: .phoneScore, success: [id(2)], failure: ["END"]),
                SceneNode(nodeId: id(2), kind: .numberRisk, success: [id(1)], failure: ["END"]),
            ])
        let map = try Self.map(
            "900003", ClientCapabilities(),
            SchemePolicy(templates: [TemplatePolicy(templateId: "900003", graph: graph)]))
        var run = SceneRun(startedAt: Self.start, numbers: RunNumbers())
        #expect(run.begin(on: map) == .ended)
        #expect(run.state == .failed)
    }

    @Test("random events never give two ends, and a pass only with a proof")
    func randomEvents() throws {
        let proof = Neighbours.number("+8613800000001")
        let random = SeededRandom(seed: 11)
        for round in 0..<2_000 {
            let templateId = StandardScenes.all[round % 5].templateId
            let capabilities = ClientCapabilities(
                numberAuth: random.next() % 4 != 0, smsCode: random.next() % 4 != 0,
                upgoingSMS: random.next() % 4 != 0, graphic: random.next() % 2 == 0)
            let map = try Self.map(
                templateId, capabilities, SchemePolicy(graphicCheck: random.next() % 2 == 0))
            var run = SceneRun(
                startedAt: Self.start,
                numbers: RunNumbers(bound: random.next() % 2 == 0 ? proof : nil))
            var arrival = run.begin(on: map)
            var wasProven = false
            var ended: SceneRun?
            for _ in 0..<40 {
                switch arrival {
                case .judgeDevice(let node):
                    let verdicts: [DeviceVerdict] = [.safe, .frequency, .risk, .unknownDevice]
                    arrival = run.judged(verdicts[Int(random.next() % 4)], at: node, on: map)
                case .split(let node): arrival = run.split(to: node.success, at: node, on: map)
                case .openUpgoing(let node):
                    arrival =
                        random.next() % 3 == 0
                        ? run.couldNotOpen("gone", at: node, on: map) : .waits
                case .waits, .ended:
                    let isProving = run.nodeId.flatMap(map.node)?.kind.isProving == true
                    switch random.next() % 4 {
                    case 0 where isProving && run.state == .waiting:
                        wasProven = true
                        arrival = run.leave(by: .success, proven: proof, on: map)
                    case 1: arrival = run.leave(by: .success, on: map)
                    case 2: arrival = run.leave(by: .failure, on: map)
                    default:
                        if random.next() % 20 == 0 { run.stop(proven: nil) }
                    }
                }
                if let ended { #expect(run == ended) }
                if run.state.isEnd { ended = ended ?? run }
                #expect((run.nodeId == nil) == run.state.isEnd)
            }
            if run.state == .passed { #expect(wasProven) }
            #expect(run.notes.count { $0.name == "ended" } <= 1)
        }
    }
}
