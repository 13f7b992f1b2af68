import Effects
package import Messages
package import Primitives

/// One execution of a scene.
///
/// Moves: waiting → waiting (a node was left for another, or told something), waiting → passed,
/// failed, stopped or expired. Nothing leaves the last four. `step` is raised at every node that
/// is entered and at an end by an edge; whoever names another step changes nothing.
///
/// Invariants: `nodeId` is set exactly while waiting; passed means that the last walk began with a
/// proof and met nothing that failed; `maskTokensCount` ≤ `maskTokensMax`.
package struct SceneRun: Codable, Sendable, Equatable {
    /// Mask tokens of one run.
    package static let maskTokensMax = 10
    /// Sends begun in one run.
    package static let sendsMax = 20
    /// Nodes that one walk may enter before it waits: more is a loop.
    static let hopsMax = 64

    package enum Code {
        package static let passed = 110_005
        package static let failed = 200_001
        /// Stopped or expired.
        package static let ended = 100_004
    }

    package private(set) var nodeId: String?
    package private(set) var step = 0
    package private(set) var state = RunState.waiting
    package private(set) var endCode: Int?
    /// Of the end, or of the last failure at this node.
    package private(set) var reason: String?
    package private(set) var enteredAt: WallTime
    /// A PASS is on record for this step, as far as scene has asked.
    package private(set) var passed = false
    /// Mask tokens reserved at this step.
    package private(set) var evidenceCount = 0
    package private(set) var sms: SMSProgress?
    package private(set) var upgoing: UpgoingProgress?
    /// Of a refused send, when the refusal told it.
    package private(set) var resendAt: WallTime?
    package private(set) var halfwayPassed = false
    package private(set) var maskTokensCount = 0
    package private(set) var sendsCount = 0
    package let startedAt: WallTime
    package private(set) var touchedAt: WallTime
    /// The latest time that this run has seen: a clock that jumps back grants nothing.
    package private(set) var seenAt: WallTime
    /// Sequence of the newest event.
    var eventsCount: Int64 = 0

    // Not part of the coded form.
    package var numbers = RunNumbers()
    /// What this call brought about, in order.
    package private(set) var notes: [RunNote] = []
    private var walk = Walk()

    private enum CodingKeys: String, CodingKey {
        case nodeId, step, state, endCode, reason, enteredAt, passed, evidenceCount, sms, upgoing,
            resendAt,
            halfwayPassed, maskTokensCount, sendsCount, startedAt, touchedAt, seenAt, eventsCount
    }

    package init(startedAt: WallTime, numbers: RunNumbers) {
        self.startedAt = startedAt
        enteredAt = startedAt
        touchedAt = startedAt
        seenAt = startedAt
        self.numbers = numbers
    }

    // MARK: Time

    /// The later of `now` and what the run has seen, which it keeps in mind.
    mutating func see(_ now: WallTime) -> WallTime {
        seenAt = max(now, seenAt)
        return seenAt
    }

    func deadline(_ limits: RunLimits) -> WallTime {
        min(touchedAt + limits.idle, startedAt + limits.total)
    }

    /// - Returns: whether it ended now.
    mutating func expireIfDue(_ limits: RunLimits) -> Bool {
        guard state == .waiting, seenAt >= deadline(limits) else { return false }
        end(.expired, SceneRun.Code.ended, reason: "run_expired")
        return true
    }

    mutating func touch() { touchedAt = max(touchedAt, seenAt) }

    // MARK: Walking

    /// Where a walk stands.
    package enum Arrival: Equatable {
        /// At a node that waits for the client.
        case waits
        case ended
        /// Answer with `judged`.
        case judgeDevice(SceneNode)
        /// Answer with `split`.
        case split(SceneNode)
        /// Answer with `opened` or `couldNotOpen`.
        case openUpgoing(SceneNode)
    }

    package mutating func begin(on map: SceneMap) -> Arrival {
        walk = Walk()
        return enter([map.begin], by: .success, on: map)
    }

    /// Leaves the current node.
    /// - Parameter proven: the number that a PASS on record is for. Only a walk that begins with
    ///   one can end passed.
    package mutating func leave(
        by edge: Edge, proven: PhoneNumber? = nil, on map: SceneMap
    ) -> Arrival {
        guard state == .waiting, let node = nodeId.flatMap(map.node) else { return .ended }
        walk = Walk(isProven: proven != nil, reason: reason)
        if let proven {
            note("passed", node)
            if node.isHalfway {
                halfwayPassed = true
                numbers.old = proven
            }
            numbers.proven = proven
        } else {
            note(edge == .success ? "passed" : "left", node)
        }
        return enter(map.targets(node, edge), by: edge, on: map)
    }

    /// Leaves the current node for a named one ("log in another way").
    package mutating func leave(for target: String, on map: SceneMap) -> Arrival {
        guard state == .waiting, let node = nodeId.flatMap(map.node) else { return .ended }
        walk = Walk(reason: reason)
        note("left", node)
        return enter([target], by: .failure, on: map)
    }

    package mutating func judged(
        _ verdict: DeviceVerdict, at node: SceneNode, on map: SceneMap
    ) -> Arrival {
        note(verdict.isSafe ? "passed" : "failed", node, verdict.resultCode, verdict.reason)
        walk.reason = verdict.reason ?? walk.reason
        let edge: Edge = verdict.isSafe ? .success : .failure
        return enter(map.targets(node, edge), by: edge, on: map)
    }

    /// - Parameter targets: the chosen one first.
    package mutating func split(
        to targets: [String], at node: SceneNode, on map: SceneMap
    ) -> Arrival {
        note("passed", node)
        return enter(targets, by: .success, on: map)
    }

    package mutating func opened(_ opened: OpenedUpgoing, at node: SceneNode) -> Arrival {
        upgoing = UpgoingProgress(
            upgoingId: opened.upgoingId, receivingNumber: opened.receivingNumber,
            expiresAtMilliseconds: opened.expiresAtMilliseconds)
        numbers.upgoingText = opened.text
        return .waits
    }

    package mutating func couldNotOpen(
        _ reason: String, at node: SceneNode, on map: SceneMap
    ) -> Arrival {
        note("unusable", node, nil, reason)
        walk.reason = reason
        return enter(map.targets(node, .failure), by: .failure, on: map)
    }

    private mutating func enter(
        _ targets: [String], by edge: Edge, on map: SceneMap
    ) -> Arrival {
        var (targets, edge) = (targets, edge)
        while true {
            if edge == .failure { walk.isProven = false }
            walk.hops += 1
            guard walk.hops <= Self.hopsMax, let target = usable(targets, on: map) else {
                step += 1
                end(.failed, Code.failed, reason: walk.reason ?? "no_usable_node")
                return .ended
            }
            step += 1
            guard target != SceneGraph.end else {
                if walk.isProven {
                    end(.passed, Code.passed, reason: nil)
                } else {
                    end(.failed, Code.failed, reason: walk.reason ?? "not_proven")
                }
                return .ended
            }
            guard let node = map.node(target) else {
                end(.failed, Code.failed, reason: "no_such_node")
                return .ended
            }
            arrive(at: node)
            switch map.treatment(node, numbers, halfwayPassed: halfwayPassed) {
            case .waits: return node.kind == .upgoingSMS ? .openUpgoing(node) : .waits
            case .judgesDevice: return .judgeDevice(node)
            case .splits: return .split(node)
            case .skipped:
                note(node.enabled && node.kind != .graphic ? "passed" : "skipped", node)
                (targets, edge) = (map.targets(node, .success), .success)
            case .unusable(let why):
                note("unusable", node, nil, why)
                walk.reason = why
                (targets, edge) = (map.targets(node, .failure), .failure)
            }
        }
    }

    /// The first target that is not unusable, else the first, whose failure edge then leads on.
    private func usable(_ targets: [String], on map: SceneMap) -> String? {
        let firstUsable = targets.first { target in
            guard target != SceneGraph.end else { return true }
            guard let node = map.node(target) else { return false }
            switch map.treatment(node, numbers, halfwayPassed: halfwayPassed) {
            case .unusable: return false
            case .waits, .skipped, .judgesDevice, .splits: return true
            }
        }
        return firstUsable ?? targets.first
    }

    private mutating func arrive(at node: SceneNode) {
        nodeId = node.nodeId
        enteredAt = seenAt
        touch()
        passed = false
        evidenceCount = 0
        reason = nil
        clearNode()
        note("entered", node)
    }

    /// What belongs to one node does not outlive it.
    private mutating func clearNode() {
        sms = nil
        upgoing = nil
        resendAt = nil
        numbers.current = nil
        numbers.sending = nil
        numbers.sendingAt = nil
        numbers.upgoingText = nil
    }

    // MARK: Ends

    /// Ends the run by the client's wish. An ended run stays as it is.
    package mutating func stop(proven: PhoneNumber?) {
        guard state == .waiting else { return }
        if let proven {
            numbers.proven = proven
            passed = true
            end(.passed, Code.passed, reason: nil)
        } else {
            end(.stopped, Code.ended, reason: "stopped")
        }
    }

    private mutating func end(_ state: RunState, _ code: Int, reason: String?) {
        self.state = state
        self.reason = reason
        endCode = code
        nodeId = nil
        clearNode()
        touch()
        notes.append(RunNote(step: step, name: "ended", resultCode: code, reason: reason))
    }

    // MARK: At a node

    /// What a node has to say about itself.
    mutating func note(
        _ name: String, _ node: SceneNode, _ resultCode: Int? = nil, _ reason: String? = nil
    ) {
        notes.append(
            RunNote(
                step: step, nodeId: node.nodeId, kind: node.kind, name: name,
                resultCode: resultCode, reason: reason))
    }

    /// The node was told something and refused it; the client stays there.
    mutating func fail(_ node: SceneNode, _ resultCode: Int, _ reason: String) {
        self.reason = reason
        touch()
        note("failed", node, resultCode, reason)
    }

    /// - Returns: false when the run has had all its mask tokens.
    mutating func reserveMaskToken() -> Bool {
        guard maskTokensCount < Self.maskTokensMax else { return false }
        maskTokensCount += 1
        evidenceCount += 1
        touch()
        return true
    }

    mutating func giveBackMaskToken() {
        maskTokensCount = max(0, maskTokensCount - 1)
        evidenceCount = max(0, evidenceCount - 1)
    }

    mutating func wonMaskToken(_ node: SceneNode, _ resultCode: Int) {
        reason = nil
        note("token_won", node, resultCode)
    }

    /// A send to this number that was begun and never settled: its outcome is unknown, and asking
    /// again under its ordinal finds it out.
    func openSend(to number: PhoneNumber) -> Int? {
        numbers.sending == number ? sendsCount : nil
    }

    var hasSendsLeft: Bool { sendsCount < Self.sendsMax }

    /// - Returns: its ordinal.
    mutating func beginSend(to number: PhoneNumber) -> Int {
        sendsCount += 1
        numbers.sending = number
        numbers.sendingAt = seenAt
        touch()
        return sendsCount
    }

    /// - Returns: when it was counted; nil when it was settled before.
    mutating func settleSend(_ ordinal: Int) -> WallTime? {
        guard ordinal == sendsCount, numbers.sending != nil else { return nil }
        numbers.sending = nil
        defer { numbers.sendingAt = nil }
        return numbers.sendingAt
    }

    /// A send was refused; the next one makes sense from then on.
    mutating func hold(until instant: WallTime?) { resendAt = instant }

    mutating func sent(
        _ sent: SentCode, to number: PhoneNumber, at node: SceneNode, _ resultCode: Int
    ) {
        sms = SMSProgress(sent)
        resendAt = nil
        reason = nil
        numbers.current = number
        if node.isPrefilled || node.checksNumber { numbers.account = number }
        touch()
        note("code_sent", node, resultCode)
    }
}

/// One walk: from leaving a node until the next one that waits.
private struct Walk: Sendable, Equatable {
    var isProven = false
    var hops = 0
    /// Of the last thing that failed on the way: why the run ends, if it does.
    var reason: String?
}
