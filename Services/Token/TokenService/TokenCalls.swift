import Bus
import Effects
import Messages
import Primitives
import Storage

/// What `token.issue` decided: enough to compose the same token again, so that none is stored.
struct IssuedToken: Codable, Sendable {
    let claims: AuthTokenClaims
    let keyID: String
}

extension TokenService {
    func issue(
        _ request: IssueAuthToken, _ context: CallContext
    ) async throws(ServiceFailure) -> IssueAuthToken.Issued {
        // Claims are whole seconds (RFC 7519 §2); a token never begins before it was asked for.
        let now = WallTime(millisecondsSince1970: clock.now().millisecondsSince1970 / 1000 * 1000)
        let id: TokenID = random.identifier()
        guard let key = try await signingKeys.recent().current else {
            throw TokenFailure.sealedValueLost
        }
        let keyID = key.keyID
        let issued = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            guard let scheme = rows.get(TokenTables.scheme, request.schemeCode),
                context.mayUse(schemeOf: scheme.owner)
            else { throw TokenFailure.schemeNotFound }
            let token = try permit(request, scheme, id: id, keyID: keyID, now: now)
            rows.put(TokenTables.authToken, token)
            return IssuedToken(claims: claims(of: token), keyID: keyID)
        }
        metrics.count(TokenSignals.tokensIssued, ("platform", issued.claims.platform.rawValue))
        return try await compose(issued)
    }

    /// The rules of an auth token.
    private func permit(
        _ request: IssueAuthToken, _ scheme: SchemeRecord, id: TokenID, keyID: String,
        now: WallTime
    ) throws(ServiceFailure) -> AuthToken {
        guard !scheme.disabled else { throw TokenFailure.schemeDisabled }
        guard case .admitted(let app) = scheme.admits(request) else {
            guard case .refused(let field) = scheme.admits(request) else {
                throw TokenFailure.appMismatch("platform")
            }
            throw TokenFailure.appMismatch(field)
        }
        var boundNumber: StoredBytes?
        if let typed = request.boundNumber {
            let number = try phoneNumbers.number(
                typed, field: "boundNumber", defaultRegion: scheme.defaultRegion)
            boundNumber = StoredBytes(sealer.seal(number, context: AuthToken.context(id)))
        }
        return AuthToken(
            id: id, schemeCode: scheme.code, owner: scheme.owner, platform: request.platform,
            app: app, keyID: keyID, issuedAt: now,
            expiresAt: now + .seconds(request.durationSeconds), boundNumber: boundNumber)
    }

    private func claims(of token: AuthToken) -> AuthTokenClaims {
        AuthTokenClaims(
            iss: configuration.issuer, sub: token.schemeCode, jti: token.id,
            iat: token.issuedAt.millisecondsSince1970 / 1000,
            exp: token.expiresAt.millisecondsSince1970 / 1000, platform: token.platform,
            app: token.app)
    }

    /// Ed25519 is deterministic: a replay gets the same token.
    private func compose(
        _ issued: IssuedToken
    ) async throws(ServiceFailure) -> IssueAuthToken.Issued {
        guard let key = try await signingKeys.naming(issued.keyID).key(issued.keyID),
            let token = try CompactToken.compose(
                issued.claims, keyID: key.keyID, seed: signingKeys.seed(of: key), signer: signer)
        else { throw TokenFailure.signingFailed }
        return IssueAuthToken.Issued(
            authToken: token, tokenId: issued.claims.jti,
            expiresAtMilliseconds: issued.claims.expiresAt.millisecondsSince1970)
    }

    func introspect(
        _ request: IntrospectAuthToken, _ context: CallContext
    ) async throws(ServiceFailure) -> TokenState {
        let state = try await judge(request.authToken, context)
        metrics.count(
            TokenSignals.tokensJudged, ("state", state.reason?.rawValue ?? "active"))
        return state
    }

    private func judge(
        _ text: String, _ context: CallContext
    ) async throws(ServiceFailure) -> TokenState {
        guard let compact = CompactToken(text) else { return .inactive(.malformed) }
        guard let claims = try await genuineClaims(compact) else { return .inactive(.unknown) }
        let now = clock.now()
        let (token, scheme) = try await store.decide { rows throws(ServiceFailure) in
            (
                rows.get(TokenTables.authToken, claims.jti.text),
                rows.get(TokenTables.scheme, claims.sub)
            )
        }
        guard let token else {
            return .inactive(now >= claims.expiresAt ? .expired : .unknown)
        }
        guard context.mayUse(schemeOf: token.owner) else { return .inactive(.unknown) }
        if let reason = token.inactivity(of: scheme, now: now) { return .inactive(reason) }
        return TokenState(
            active: true, tokenId: token.id, schemeCode: token.schemeCode, owner: token.owner,
            platform: token.platform, app: token.app,
            issuedAtMilliseconds: token.issuedAt.millisecondsSince1970,
            expiresAtMilliseconds: token.expiresAt.millisecondsSince1970,
            boundNumber: try boundNumber(of: token, context))
    }

    private func boundNumber(
        of token: AuthToken, _ context: CallContext
    ) throws(ServiceFailure) -> PhoneNumber? {
        guard context.isServiceItself, let sealed = token.boundNumber else { return nil }
        guard
            let number = sealer.openNumber(sealed.bytes, context: AuthToken.context(token.id))
        else { throw TokenFailure.sealedValueLost }
        return number
    }

    /// nil when none of our keys signed it.
    private func genuineClaims(
        _ compact: CompactToken
    ) async throws(ServiceFailure) -> AuthTokenClaims? {
        let keys = SigningKeySet.keySet(try await signingKeys.naming(compact.keyID).keys)
        do throws(ServiceFailure) {
            return try AuthTokenReader.genuineClaims(compact, keys: keys, signer: signer)
        } catch {
            return nil
        }
    }

    func revoke(
        _ request: RevokeAuthToken, _ context: CallContext
    ) async throws(ServiceFailure) -> RevokeAuthToken.Revoked {
        var id = request.tokenId
        if let text = request.authToken {
            guard let compact = CompactToken(text),
                let claims = try await genuineClaims(compact), id == nil || id == claims.jti
            else { throw TokenFailure.tokenInvalid }
            id = claims.jti
        }
        guard let id else { throw TokenFailure.tokenIDUnknown }
        let isGenuine = request.authToken != nil
        let now = clock.now()
        // The token itself is left out of what is compared; its id is what the request means.
        let key = try context.answerKey(for: RevokeAuthToken(tokenId: id))
        let revoked = try await answers.once(key) { rows throws(ServiceFailure) in
            guard var token = rows.get(TokenTables.authToken, id.text),
                context.mayUse(schemeOf: token.owner)
            else {
                // A genuine token without a row has long expired; to a stranger it does not exist.
                if isGenuine, rows.get(TokenTables.authToken, id.text) == nil {
                    return RevokeAuthToken.Revoked(changed: false)
                }
                throw isGenuine ? TokenFailure.tokenInvalid : TokenFailure.tokenIDUnknown
            }
            guard token.revoke(now: now) == .revoked else {
                return RevokeAuthToken.Revoked(changed: false)
            }
            rows.put(TokenTables.authToken, token)
            return RevokeAuthToken.Revoked(changed: true)
        }
        if revoked.changed { metrics.count(TokenSignals.tokensRevoked) }
        return revoked
    }

    /// Always from the store, so that every instance shows a new key at once.
    func keys(
        _ request: GetSigningKeys, _ context: CallContext
    ) async throws(ServiceFailure) -> PublicKeySet {
        SigningKeySet.keySet(try await signingKeys.read().published(at: clock.now()))
    }

    func rotate(
        _ request: RotateSigningKey, _ context: CallContext
    ) async throws(ServiceFailure) -> RotateSigningKey.Rotated {
        let now = clock.now()
        let next = signingKeys.candidate(now: now)
        let rotated = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            var set: SigningKeySet
            if let found = rows.get(TokenTables.signingKey, SigningKeySet.rowName) {
                set = found
                guard set.rotate(to: next, now: now) == .rotated else {
                    throw TokenFailure.tooManySigningKeys(max: SigningKeySet.countMax)
                }
            } else {
                set = SigningKeySet(first: next)
            }
            rows.put(TokenTables.signingKey, set)
            return RotateSigningKey.Rotated(
                kid: next.keyID, publishedKids: set.published(at: now).map(\.keyID))
        }
        signingKeys.forget()
        log.info(
            "signing key rotated",
            [
                TokenSignals.Key.signingKey: .text(rotated.kid),
                TokenSignals.Key.principal: .text(context.principal.description),
            ])
        return rotated
    }
}

extension TokenState {
    /// Says nothing but why (RFC 7662 §2.2).
    static func inactive(_ reason: TokenInactivity) -> Self { Self(active: false, reason: reason) }
}
