import Bus
import Effects
import Messages
import Primitives
import Storage

/// What a signature is judged with. None of it ever changes under one key id, so it may be kept.
struct KeySecret: Sendable {
    let secret: Secret<[UInt8]>
    /// Of a temporary key.
    let securityToken: VersionedDigest?
}

/// Secrets of keys that called lately, opened. Whether a key may still call is read anew each time.
final class KeySecrets: Sendable {
    static let countMax = 1_024
    private let known = Lock<[String: KeySecret]>([:])

    subscript(id: String) -> KeySecret? { known.withLock { $0[id] } }

    func remember(_ secret: KeySecret, for id: String) {
        known.withLock { known in
            if known.count >= Self.countMax { known.removeAll(keepingCapacity: true) }
            known[id] = secret
        }
    }
}

extension TokenService {
    /// How far a call's timestamp may lie from now.
    static let timestampWindow = Duration.seconds(15 * 60)

    func authenticate(
        _ request: AuthenticateKey, _ context: CallContext
    ) async throws(ServiceFailure) -> AuthenticatedKey {
        do throws(ServiceFailure) {
            let key = try await judge(request, context)
            metrics.count(TokenSignals.callsAuthenticated, ("result", "ok"))
            return key
        } catch {
            metrics.count(TokenSignals.callsAuthenticated, ("result", error.code.rawValue))
            throw error
        }
    }

    /// A call without a right signature costs no transaction that writes.
    private func judge(
        _ request: AuthenticateKey, _ context: CallContext
    ) async throws(ServiceFailure) -> AuthenticatedKey {
        let now = clock.now()
        let timestamp = WallTime(millisecondsSince1970: request.timestampMilliseconds)
        guard timestamp >= now - Self.timestampWindow, timestamp <= now + Self.timestampWindow
        else { throw TokenFailure.timestampExpired }
        let secret = try await keySecret(request.accessKeyId)
        try judgeSecurityToken(request, secret)
        guard isSigned(request, with: secret.secret) else { throw TokenFailure.signatureMismatch }

        let nonce = Hex.encode(
            signer.sha256(Array("\(request.accessKeyId)\n\(request.nonce)".utf8)))
        let answerKey = try context.answerKey(for: request)
        let row = NonceRow(
            key: nonce, request: Self.name(of: answerKey, signer),
            expiresAt: now + NonceRow.keptFor)
        // The nonce is the memory of this write: a delivery that comes again finds itself there,
        // without an answer row beside it. A key that the caller chose is kept by the book.
        guard answerKey.isChosenByCaller else {
            return try await store.decide { rows throws(ServiceFailure) in
                try admit(request, row, now, &rows)
            }
        }
        return try await answers.once(answerKey) { rows throws(ServiceFailure) in
            try admit(request, row, now, &rows)
        }
    }

    /// Key, scope, nonce and calls per second in one decision.
    private func admit(
        _ request: AuthenticateKey, _ nonce: NonceRow, _ now: WallTime, _ rows: inout Rows
    ) throws(ServiceFailure) -> AuthenticatedKey {
        rows.prefetch(TokenTables.nonce, nonce.key)
        let grant = try grant(request.accessKeyId, now, &rows)
        guard grant.covers(request.action) else { throw TokenFailure.actionForbidden }
        if let used = rows.get(TokenTables.nonce, nonce.key) {
            guard used.request == nonce.request else { throw TokenFailure.nonceUsed }
            return grant.authenticated
        }
        if let limit = grant.callsPerSecondMax {
            var window =
                rows.get(TokenTables.keyWindow, grant.keyID)
                ?? CallWindow(keyID: grant.keyID, now: now)
            if case .usedUp(let retryAfter) = window.count(limit: limit, now: now) {
                throw TokenFailure.callsUsedUp(retryAfter: retryAfter)
            }
            rows.put(TokenTables.keyWindow, window)
        }
        rows.put(TokenTables.nonce, nonce)
        return grant.authenticated
    }

    private func grant(
        _ id: String, _ now: WallTime, _ rows: inout Rows
    ) throws(ServiceFailure) -> KeyGrant {
        guard id.hasPrefix(TemporaryKey.idPrefix) else {
            rows.prefetch(TokenTables.keyWindow, id)
            guard let key = rows.get(TokenTables.apiKey, id) else { throw TokenFailure.keyNotFound }
            guard key.isActive else { throw TokenFailure.keyInactive }
            return key.grant
        }
        guard let key = rows.get(TokenTables.temporaryKey, id) else {
            throw TokenFailure.keyNotFound
        }
        guard now < key.expiresAt else { throw TokenFailure.securityTokenExpired }
        rows.prefetch(TokenTables.keyWindow, key.parentID)
        guard let parent = rows.get(TokenTables.apiKey, key.parentID), parent.isActive else {
            throw TokenFailure.keyInactive
        }
        return key.grant(of: parent)
    }

    // MARK: -

    private func keySecret(_ id: String) async throws(ServiceFailure) -> KeySecret {
        if let known = keySecrets[id] { return known }
        let isTemporary = id.hasPrefix(TemporaryKey.idPrefix)
        let found = try await store.decide {
            rows throws(ServiceFailure) -> (sealed: StoredBytes, token: VersionedDigest?)? in
            if isTemporary {
                return rows.get(TokenTables.temporaryKey, id).map { ($0.secret, $0.securityToken) }
            }
            return rows.get(TokenTables.apiKey, id).map { ($0.secret, nil) }
        }
        guard let found else { throw TokenFailure.keyNotFound }
        let context = isTemporary ? TemporaryKey.context(id) : APIKey.context(id)
        guard let secret = sealer.open(found.sealed.bytes, context: context) else {
            throw TokenFailure.sealedValueLost
        }
        let known = KeySecret(secret: Secret(secret), securityToken: found.token)
        keySecrets.remember(known, for: id)
        return known
    }

    private func judgeSecurityToken(
        _ request: AuthenticateKey, _ secret: KeySecret
    ) throws(ServiceFailure) {
        let given = request.securityToken?.reveal()
        guard let stored = secret.securityToken else {
            // A long-lived key has none; one that is given anyway belongs to another key.
            guard given ?? "" == "" else { throw TokenFailure.securityTokenInvalid }
            return
        }
        guard let given, digest.matches(Array(given.utf8), stored) else {
            throw TokenFailure.securityTokenInvalid
        }
    }

    private func isSigned(_ request: AuthenticateKey, with secret: Secret<[UInt8]>) -> Bool {
        let message = Array(request.stringToSign.utf8)
        let expected =
            switch request.algorithm {
            case .acs3HMACSHA256:
                Hex.encode(authenticator.hmacSHA256(message, key: secret))
            case .hmacSHA1:
                Base64.encode(
                    authenticator.hmacSHA1(
                        message, key: Secret(secret.reveal() + [UInt8(ascii: "&")])))
            }
        return constantTimeEqual(Array(request.signature.utf8), Array(expected.utf8))
    }

    private static func name(of key: AnswerKey, _ signer: any TokenSigner) -> String {
        let parts = [key.scope, key.method, key.key].map { "\($0.utf8.count):\($0)" }
        return Hex.encode(signer.sha256(Array(parts.joined().utf8) + key.body.reveal()))
    }

    /// Single-use tokens of others: the first to ask gets `fresh`.
    func consume(
        _ request: ConsumeToken, _ context: CallContext
    ) async throws(ServiceFailure) -> ConsumedToken {
        let parts = [request.issuer, request.tokenId].map { "\($0.utf8.count):\($0)" }
        let name = Hex.encode(signer.sha256(Array(parts.joined().utf8)))
        let now = clock.now()
        let latest = now + ConsumedToken.rememberedMax
        let until = WallTime(millisecondsSince1970: request.untilMilliseconds)
        guard until <= latest else {
            throw TokenFailure.consumedTooLate(max: ConsumedToken.rememberedMax)
        }
        return try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            guard rows.get(TokenTables.consumed, name) == nil else {
                return ConsumedToken(fresh: false)
            }
            rows.put(
                TokenTables.consumed,
                ConsumedRow(key: name, expiresAt: max(until, now) + ConsumedToken.keptAfterEnd))
            return ConsumedToken(fresh: true)
        }
    }
}

extension ConsumedToken {
    /// A token that lives longer cannot be watched.
    static let rememberedMax = Duration.seconds(31 * 24 * 3600)
    /// For issuers whose clock lags behind ours.
    static let keptAfterEnd = Duration.seconds(600)
}

/// base64 with padding (RFC 4648 §4), as signatures of the RPC form are written.
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let body = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return body + String(repeating: "=", count: (4 - body.utf8.count % 4) % 4)
    }
}
