package import Bus
import Messages
package import Primitives

/// Judges the proof of a human check that the client brought from elsewhere.
package protocol HumanCheck: Sendable {
    /// - Parameter options: with a request key; the same key gets the same answer.
    func check(_ proof: String, _ options: CallOptions) async throws(ServiceFailure) -> Bool
}

/// Asks the sandbox. For development; a real deployment brings its own.
package struct SandboxHumanCheck: HumanCheck {
    private let bus: any BusCaller

    package init(bus: any BusCaller) { self.bus = bus }

    package func check(
        _ proof: String, _ options: CallOptions
    ) async throws(ServiceFailure) -> Bool {
        try await bus.call(CheckProof(proof: proof), options).accepted
    }
}
