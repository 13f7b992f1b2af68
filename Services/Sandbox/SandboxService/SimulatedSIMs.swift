import Bus
import Effects
import Messages
import Primitives

/// `sandbox.sim`, `carrier_token` and `exchange`: handsets and the carriers' servers.
extension SandboxService {
    private static let success = 1_600_000

    func putSIM(
        _ request: PutSIM, _ context: CallContext
    ) async throws(ServiceFailure) -> SIM {
        var numbers: [PhoneNumber] = []
        for text in request.numbers { numbers.append(try number(text, "numbers")) }
        let dataSlot = request.dataSlot ?? 0
        guard numbers.indices.contains(dataSlot) else {
            throw ServiceFailure(
                .invalidParameters, "names no slot of this phone", field: "dataSlot")
        }
        let fresh: SIMID = random.identifier()
        return try state.withLock { state throws(ServiceFailure) in
            if let id = request.simId, state.sims[id] == nil { throw Self.noSuchSIM }
            let sim = SIM(
                simId: request.simId ?? fresh, numbers: numbers, dataSlot: dataSlot,
                carrier: request.carrier ?? .mobile, fault: request.fault ?? .none,
                delayMilliseconds: request.delayMilliseconds ?? 0)
            state.put(sim)
            return sim
        }
    }

    func carrierToken(
        _ request: FetchCarrierToken, _ context: CallContext
    ) async throws(ServiceFailure) -> CarrierToken {
        let sim = try sim(of: request)
        try await hold(.milliseconds(sim.delayMilliseconds), context)
        if let (inner, carrierCode) = Self.failure(of: sim.fault) {
            return CarrierToken(innerCode: inner, carrierCode: carrierCode, carrier: sim.carrier)
        }
        let number = sim.numbers[sim.dataSlot]
        let token = "CT" + Base64URL.encode(random.bytes(24))
        let expiresAt = clock.now() + SandboxState.tokenLifetime
        state.withLock { state in
            state.tokens.put(
                token,
                SandboxState.Token(
                    sim: sim.simId, number: number, carrier: sim.carrier, expiresAt: expiresAt))
        }
        return CarrierToken(
            carrierToken: Secret(token), innerCode: Self.success, maskedNumber: number.masked,
            carrier: sim.carrier)
    }

    private func sim(of request: FetchCarrierToken) throws(ServiceFailure) -> SIM {
        if let id = request.simId {
            guard let sim = state.withLock({ $0.sims[id] }) else { throw Self.noSuchSIM }
            return sim
        }
        guard let text = request.number else {
            throw ServiceFailure(
                .invalidParameters, "is missing; simId or number names the phone", field: "simId")
        }
        let number = try number(text, "number")
        let fresh: SIMID = random.identifier()
        return state.withLock { state in
            let sim = state.sim(of: number, fresh: fresh)
            guard let slot = sim.numbers.firstIndex(of: number), slot != sim.dataSlot else {
                return sim
            }
            // Asked by number, the slot of that number carries data.
            return SIM(
                simId: sim.simId, numbers: sim.numbers, dataSlot: slot, carrier: sim.carrier,
                fault: sim.fault, delayMilliseconds: sim.delayMilliseconds)
        }
    }

    /// A token is good for one reference; that reference may ask again and gets the same answer.
    func exchange(
        _ request: ExchangeCarrierToken, _ context: CallContext
    ) async throws(ServiceFailure) -> ExchangedToken {
        let now = clock.now()
        let text = request.carrierToken.reveal()
        let (token, sim) = try state.withLock { state throws(ServiceFailure) in
            guard var token = state.tokens[text], now < token.expiresAt,
                token.reference == nil || token.reference == request.reference,
                state.exchanged[request.reference] ?? text == text
            else { throw Self.tokenInvalid }
            token.reference = request.reference
            state.tokens.put(text, token)
            state.exchanged.put(request.reference, text)
            return (token, state.sims[token.sim])
        }
        switch sim?.fault ?? SIMFault.none {
        case .exchangeRefused:
            throw ServiceFailure(.providerRefused, "the carrier does not take this token")
        case .exchangeSlow:
            let delay = Duration.milliseconds(sim?.delayMilliseconds ?? 0)
            guard delay > .zero, delay < context.timeLeft(pause) ?? delay + delay else {
                try await fallSilent(context)
                throw ServiceFailure(.carrierUnavailable, "the carrier did not answer in time")
            }
            try await hold(delay, context)
        case .none, .noSIM, .noCellularData, .wifiSwitch, .permission, .slow: break
        }
        return ExchangedToken(number: token.number, carrier: token.carrier)
    }

    /// The documented inner code, and the carrier's own where there is one.
    private static func failure(of fault: SIMFault) -> (inner: Int, carrier: Int?)? {
        switch fault {
        case .none, .exchangeRefused, .exchangeSlow: nil
        case .noSIM: (1_600_007, nil)
        case .noCellularData: (1_600_008, nil)
        case .wifiSwitch: (1_600_011, 80_801)
        case .permission: (1_600_025, 80_006)
        case .slow: (1_600_015, nil)
        }
    }

    private static let noSuchSIM = ServiceFailure(
        .simNotFound, "there is no such phone", field: "simId")
    private static let tokenInvalid = ServiceFailure(
        .tokenInvalid, "the carrier does not know this token, or it was used",
        field: "carrierToken")
}
