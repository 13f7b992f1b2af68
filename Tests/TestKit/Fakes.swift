package import Effects
package import Primitives

/// A clock that moves only when told to.
package final class ManualClock: WallClock, Pause {
    private struct Sleeper: Sendable {
        let number: Int
        let wakesAt: Duration
        let continuation: CheckedContinuation<Void, Never>
    }
    private struct State: Sendable {
        var steady: Duration = .zero
        var wallOffset: WallTime
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var nextNumber = 0
    }
    private let state: Lock<State>

    package init(startingAt start: WallTime = WallTime(millisecondsSince1970: 1_800_000_000_000)) {
        state = Lock(State(wallOffset: start))
    }

    package func now() -> WallTime { state.withLock { $0.wallOffset + $0.steady } }
    package func steadyNow() -> Duration { state.withLock { $0.steady } }

    package func wait(_ span: Duration) async throws(CancellationError) {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Bool in
                    if span <= .zero || state.cancelled.remove(number) != nil { return true }
                    state.sleepers.append(
                        Sleeper(
                            number: number, wakesAt: state.steady + span,
                            continuation: continuation))
                    return false
                }
                if now { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume()
        }
        if Task.isCancelled { throw CancellationError() }
    }

    /// Moves both clocks and wakes, in order, everyone whose time has come.
    package func advance(_ span: Duration) {
        let woken = state.withLock { state -> [Sleeper] in
            state.steady += span
            let due = state.sleepers.filter { $0.wakesAt <= state.steady }
            state.sleepers.removeAll { $0.wakesAt <= state.steady }
            return due.sorted { ($0.wakesAt, $0.number) < ($1.wakesAt, $1.number) }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Moves the wall clock alone, as an operator or NTP would.
    package func jumpWall(_ span: Duration) {
        state.withLock { $0.wallOffset = $0.wallOffset + span }
    }

    package var sleepersCount: Int { state.withLock { $0.sleepers.count } }
}

/// SplitMix64: the same bytes for the same seed, everywhere.
package final class SeededRandom: RandomSource {
    private let state: Lock<UInt64>

    package init(seed: UInt64) { state = Lock(seed) }

    package func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            return mixed ^ mixed >> 31
        }
    }

    package func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let word = next()
            for shift in stride(from: 0, to: 64, by: 8) where bytes.count < count {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return bytes
    }
}

/// Keyed digests, sealing and codes without a C library: not secret, but distinct, repeatable, and
/// strict
/// about contexts and versions. One value stands in for all three.
package struct FakeCryptography: KeyedDigest, Sealer, CodeDerivation {
    package let currentVersion: UInt16
    /// Versions that still have a key.
    package let versions: Set<UInt16>
    private let salt: UInt64

    package var liveVersions: [UInt16] { versions.sorted() }

    package init(salt: UInt64 = 0, currentVersion: UInt16 = 1, versions: Set<UInt16> = [1]) {
        precondition(versions.contains(currentVersion), "the current version has a key")
        self.salt = salt
        self.currentVersion = currentVersion
        self.versions = versions
    }

    package func digest(_ message: [UInt8], version: UInt16) -> [UInt8]? {
        versions.contains(version) ? mixed(message, version, "digest") : nil
    }

    package func seal(_ plain: [UInt8], context: String) -> [UInt8] {
        let mask = mixed([], currentVersion, "mask")
        let body = plain.enumerated().map { $1 ^ mask[$0 % mask.count] }
        let tag = mixed(plain, currentVersion, "seal/\(context)").prefix(8)
        return [UInt8(currentVersion >> 8), UInt8(currentVersion & 255)] + tag + body
    }

    package func open(_ sealed: [UInt8], context: String) -> [UInt8]? {
        guard sealed.count >= 10 else { return nil }
        let version = UInt16(sealed[0]) << 8 | UInt16(sealed[1])
        guard versions.contains(version) else { return nil }
        let mask = mixed([], version, "mask")
        let plain = sealed.dropFirst(10).enumerated().map { $1 ^ mask[$0 % mask.count] }
        let tag = mixed(plain, version, "seal/\(context)").prefix(8)
        return Array(sealed[2..<10]) == Array(tag) ? plain : nil
    }

    package func code(
        challengeID: String, sequence: Int, length: Int, alphabet: [UInt8], version: UInt16
    ) -> Secret<String>? {
        guard versions.contains(version) else { return nil }
        let source = SeededRandom(
            seed: hash(Array("\(challengeID)/\(sequence)".utf8), UInt64(version) &+ salt))
        let characters = (0..<length).map { _ in
            alphabet[Int(source.uniform(below: UInt32(alphabet.count)))]
        }
        return Secret(String(decoding: characters, as: UTF8.self))
    }

    private func mixed(_ message: [UInt8], _ version: UInt16, _ purpose: String) -> [UInt8] {
        let seed = hash(Array(purpose.utf8) + [0] + message, UInt64(version) &+ salt &* 31)
        return SeededRandom(seed: seed).bytes(32)
    }

    private func hash(_ bytes: [UInt8], _ start: UInt64) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325 ^ start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

/// Reads E.164, `00…` and, with a default region of CN, national mobile numbers. Enough for
/// services; the real
/// parser has tests of its own.
package struct FakePhoneNumberParser: PhoneNumberParser {
    package init() {}

    package func parse(
        _ text: String, defaultRegion: String?
    ) throws(PhoneNumberProblem) -> ParsedPhoneNumber {
        var digits = text.filter { !" -()".contains($0) }
        if digits.hasPrefix("00") { digits = "+" + digits.dropFirst(2) }
        if !digits.hasPrefix("+"), defaultRegion == "CN", digits.count == 11 {
            digits = "+86" + digits
        }
        guard digits.hasPrefix("+") else { throw .unknownCountry }
        guard let number = PhoneNumber(e164: digits) else { throw .notANumber }
        return ParsedPhoneNumber(
            number: number, region: digits.hasPrefix("+86") ? "CN" : nil,
            countryCode: digits.hasPrefix("+86") ? 86 : 1, isKnownToPlan: true, kind: .mobile)
    }
}

/// Keeps every log line, so that a test can search it.
package final class RecordingLog: LogSink {
    private let records = Lock<[String]>([])
    package let level = LogLevel.debug

    package init() {}

    package func write(_ record: LogRecord) {
        let values = record.metadata.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        records.withLock { $0.append("\(record.level) \(record.message) \(values)") }
    }

    package var lines: [String] { records.withLock { $0 } }
}
