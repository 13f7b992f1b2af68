package import Bus
package import Effects
import Messages
import Primitives

/// Carriers, handsets and an SMS provider that are not there: for development and tests, in memory, one
/// instance. Any number has an inbox and, when first asked for, a SIM that works.
package struct SandboxService: Sendable {
    let clock: any WallClock
    let pause: any Pause
    let random: any RandomSource
    let bus: any BusCaller
    let phoneNumbers: any PhoneNumberParser
    let accessKey: SandboxAccessKey
    let log: Log
    let configuration: SandboxConfiguration
    let state = Lock(SandboxState())
    let readers: InboxReaders

    /// - Parameters:
    ///   - bus: to tell `smscode` of receipts and of texts from handsets.
    ///   - signer: of access tokens, with a key made here and gone with the process.
    ///   - configuration: must have no problems.
    package init(
        clock: any WallClock, pause: any Pause, random: any RandomSource, bus: any BusCaller,
        phoneNumbers: any PhoneNumberParser, signer: any TokenSigner, log: Log = .silent,
        configuration: SandboxConfiguration = SandboxConfiguration()
    ) {
        self.clock = clock
        self.pause = pause
        self.random = random
        self.bus = bus
        self.phoneNumbers = phoneNumbers
        accessKey = SandboxAccessKey(signer: signer)
        self.log = log
        self.configuration = configuration
        readers = InboxReaders(pause: pause)
    }

    /// Delivers what was delayed, and tells receipts.
    package func parts() -> [any DaemonPart] { [SandboxDelivery(service: self)] }

    func number(_ text: String, _ field: String) throws(ServiceFailure) -> PhoneNumber {
        let region = configuration.defaultRegion
        return try phoneNumbers.number(
            text, field: field, defaultRegion: region.isEmpty ? nil : region)
    }

    /// Waits, never past the caller's deadline by more than it takes to notice it.
    func hold(_ span: Duration, _ context: CallContext) async throws(ServiceFailure) {
        guard span > .zero else { return }
        do {
            try await pause.wait(min(span, context.timeLeft(pause) ?? span))
        } catch {
            throw ServiceFailure(.unavailable, "the sandbox is stopping")
        }
    }

    /// Answers nothing in time.
    func fallSilent(_ context: CallContext) async throws(ServiceFailure) {
        try await hold(context.timeLeft(pause) ?? context.method.timeout, context)
    }

    /// - Returns: `human-` and at least eight characters, each proof once.
    func checkProof(
        _ request: CheckProof, _ context: CallContext
    ) async throws(ServiceFailure) -> CheckedProof {
        let head = "human-"
        let proof = request.proof
        guard proof.hasPrefix(head), proof.count >= head.count + 8, proof.utf8.count <= 256 else {
            return CheckedProof(accepted: false)
        }
        let isFresh = state.withLock { state in
            guard state.usedProofs[proof] == nil else { return false }
            state.usedProofs.put(proof, true)
            return true
        }
        return CheckedProof(accepted: isFresh)
    }
}
