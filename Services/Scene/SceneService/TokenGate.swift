package import Bus
package import Effects
import Messages
import Primitives

/// Lets a client in by its auth token: the signature offline against the published keys, then the
/// token service's word on revocation and the scheme, which is never cached.
package struct TokenGate: Sendable {
    /// A set of keys is asked for again after so long.
    package static let keysFreshFor = Duration.seconds(300)
    /// An unknown key asks again at most once per so long: forged tokens cost the token service
    /// nothing.
    package static let refetchGap = Duration.seconds(5)

    private struct Held: Sendable {
        var keys: PublicKeySet?
        var fetchedAt = Duration.zero
        /// Also of a fetch that failed.
        var askedAt: Duration?
    }

    private let bus: any BusCaller
    private let signer: any TokenSigner
    private let clock: any WallClock
    private let pause: any Pause
    private let held = Lock(Held())

    package init(
        bus: any BusCaller, signer: any TokenSigner, clock: any WallClock, pause: any Pause
    ) {
        self.bus = bus
        self.signer = signer
        self.clock = clock
        self.pause = pause
    }

    /// What a good token says, with the bound number that only the token service knows.
    struct Permit: Sendable {
        let tokenId: TokenID
        let schemeCode: String
        let owner: String?
        let platform: AppPlatform
        let app: String
        let boundNumber: PhoneNumber?
    }

    /// - Throws: `token_invalid`, `token_expired`, `token_revoked`, `scheme_disabled`;
    ///   `not_allowed` for an integrator with a token of another's scheme.
    func admit(
        _ token: Secret<String>, _ context: CallContext
    ) async throws(ServiceFailure) -> Permit {
        guard let compact = CompactToken(token.reveal()) else {
            throw SceneFailure.inactive(.malformed)
        }
        let keys = try await keys(holding: compact.keyID, context)
        let claims = try AuthTokenReader.verify(
            compact, keys: keys, signer: signer, now: clock.now())
        let state = try await bus.call(
            IntrospectAuthToken(authToken: token.reveal()), context.nested(pause))
        guard state.active else { throw SceneFailure.inactive(state.reason) }
        guard state.schemeCode == nil || state.schemeCode == claims.sub else {
            throw SceneFailure.inactive(.unknown)
        }
        if let owner = state.owner, !context.mayUse(schemeOf: owner) {
            throw ServiceFailure(.notAllowed, "this token is of another's scheme")
        }
        return Permit(
            tokenId: claims.jti, schemeCode: claims.sub, owner: state.owner,
            platform: claims.platform, app: claims.app, boundNumber: state.boundNumber)
    }

    private func keys(
        holding keyID: String, _ context: CallContext
    ) async throws(ServiceFailure) -> PublicKeySet {
        let now = pause.steadyNow()
        let (known, mayAsk) = held.withLock { held -> (PublicKeySet?, Bool) in
            let isFresh = held.keys != nil && now - held.fetchedAt < Self.keysFreshFor
            let holds = held.keys?.keys.contains { $0.kid == keyID } ?? false
            if isFresh && holds { return (held.keys, false) }
            if let asked = held.askedAt, now - asked < Self.refetchGap, held.keys != nil {
                return (held.keys, false)
            }
            held.askedAt = now
            return (held.keys, true)
        }
        guard mayAsk else { return known ?? PublicKeySet(keys: []) }
        do throws(ServiceFailure) {
            let fetched = try await bus.call(GetSigningKeys(), context.nested(pause))
            held.withLock { held in
                held.keys = fetched
                held.fetchedAt = now
            }
            return fetched
        } catch {
            // Keys that were good a while ago still judge signatures; introspection follows anyway.
            guard let known, known.keys.contains(where: { $0.kid == keyID }) else { throw error }
            return known
        }
    }
}
