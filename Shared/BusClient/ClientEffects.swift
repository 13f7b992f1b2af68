import Bus
import Effects
import Primitives

/// The process's steady clock.
struct ClientPause: Pause {
    private static let origin = ContinuousClock.now

    func wait(_ span: Duration) async throws(CancellationError) {
        do {
            try await Task.sleep(for: span, clock: .continuous)
        } catch {
            throw CancellationError()
        }
    }

    func steadyNow() -> Duration { ContinuousClock.now - Self.origin }
}

/// The system's generator.
struct ClientRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
}

/// The body of a call whose parameters come as JSON.
enum RawRequest {
    static func body(
        _ method: String, _ parameters: String, _ options: CallOptions
    ) throws(ServiceFailure) -> [UInt8] {
        let id = Hex.encode(ClientRandom().bytes(8))
        let meta = try options.requestKey.map { key throws(ServiceFailure) in
            let text = String(decoding: try BusCoding.encode([key]), as: UTF8.self)
            return #","meta":{"requestKey":\#(text.dropFirst().dropLast())}"#
        }
        let name = String(decoding: try BusCoding.encode([method]), as: UTF8.self)
            .dropFirst().dropLast()
        return Array(
            #"{"jsonrpc":"2.0","id":"\#(id)","method":\#(name),"params":\#(parameters)\#(meta ?? "")}"#
                .utf8)
    }
}
