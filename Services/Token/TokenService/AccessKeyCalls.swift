import Bus
import Effects
import Messages
import Primitives
import Storage

extension TokenService {
    private static let scopeCountMax = 100
    private static let pageCountMax = 100

    func createKey(
        _ request: CreateAccessKey, _ context: CallContext
    ) async throws(ServiceFailure) -> CreatedAccessKey {
        try judgeScope(request.schemeCodes, request.actions)
        let now = clock.now()
        let id = APIKey.idPrefix + Text.drawn(APIKey.idRandomCount, random)
        let secret = Text.drawn(APIKey.secretCount, random)
        let sealed = seal(secret, APIKey.context(id))
        let created = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            let isTaken = rows.get(TokenTables.apiKey, id) != nil
            let named =
                (request.schemeCodes ?? []).enumerated().map { ("schemeCodes[\($0)]", $1) }
                + (request.defaultSchemeCode.map { [("defaultSchemeCode", $0)] } ?? [])
            let found = named.map { ($0, rows.get(TokenTables.scheme, $1)) }
            for (field, scheme) in found where scheme?.owner != request.owner {
                throw TokenFailure.schemeNotOfOwner(field)
            }
            if let code = request.defaultSchemeCode, request.schemeCodes?.contains(code) == false {
                throw TokenFailure.schemeNotOfOwner("defaultSchemeCode")
            }
            guard !isTaken else { throw TokenFailure.noFreeName }
            rows.put(
                TokenTables.apiKey,
                APIKey(id: id, request: request, secret: sealed, createdAt: now))
            return CreatedAccessKey(accessKeyId: id, accessKeySecret: Secret(secret))
        }
        note("access key made", created.accessKeyId, context)
        return created
    }

    func listKeys(
        _ request: ListAccessKeys, _ context: CallContext
    ) async throws(ServiceFailure) -> AccessKeyList {
        let (index, value) =
            if let owner = request.owner { (TokenTables.byOwner, owner) } else {
                (TokenTables.byAll, TokenTables.byAll)
            }
        let upTo = request.after.map { ListOrder.after(ListOrder.of(keyID: $0)) }
        let limit = request.limit ?? Self.pageCountMax
        let found = try await store.decide { rows throws(ServiceFailure) in
            rows.find(
                TokenTables.apiKey, index, value, upTo: upTo, newestFirst: true, limit: limit + 1)
        }
        let page = found.prefix(limit)
        return AccessKeyList(
            keys: page.map(\.accessKey), next: found.count > limit ? page.last?.id : nil)
    }

    func revokeKey(
        _ request: RevokeAccessKey, _ context: CallContext
    ) async throws(ServiceFailure) -> RevokedAccessKey {
        let now = clock.now()
        let revoked = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            guard var key = rows.get(TokenTables.apiKey, request.accessKeyId) else {
                throw TokenFailure.keyNotFound
            }
            let changed = key.revoke(now: now)
            if changed { rows.put(TokenTables.apiKey, key) }
            return RevokedAccessKey(changed: changed)
        }
        note("access key revoked", request.accessKeyId, context)
        return revoked
    }

    func createTemporaryKey(
        _ request: CreateTemporaryKey, _ context: CallContext
    ) async throws(ServiceFailure) -> CreatedAccessKey {
        try judgeScope(request.schemeCodes, request.actions)
        let now = clock.now()
        let id = TemporaryKey.idPrefix + Text.drawn(TemporaryKey.idRandomCount, random)
        let secret = Text.drawn(APIKey.secretCount, random)
        let securityToken = Base64URL.encode(random.bytes(TemporaryKey.securityTokenBytesCount))
        let sealed = seal(secret, TemporaryKey.context(id))
        let tokenDigest = digest.digest(securityToken)
        let expiresAt = now + .seconds(request.durationSeconds)
        let created = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            let isTaken = rows.get(TokenTables.temporaryKey, id) != nil
            guard let parent = rows.get(TokenTables.apiKey, request.accessKeyId) else {
                throw TokenFailure.keyNotFound
            }
            guard parent.isActive else { throw TokenFailure.keyInactive }
            guard Self.isWithin(request.schemeCodes, parent.schemeCodes),
                Self.isWithin(request.actions, parent.actions)
            else { throw TokenFailure.moreThanParent }
            guard !isTaken else { throw TokenFailure.noFreeName }
            rows.put(
                TokenTables.temporaryKey,
                TemporaryKey(
                    id: id, parentID: parent.id, schemeCodes: request.schemeCodes,
                    actions: request.actions, secret: sealed, securityToken: tokenDigest,
                    createdAt: now, expiresAt: expiresAt))
            return CreatedAccessKey(
                accessKeyId: id, accessKeySecret: Secret(secret),
                securityToken: Secret(securityToken),
                expiresAtMilliseconds: expiresAt.millisecondsSince1970)
        }
        note("temporary key made", created.accessKeyId, context)
        return created
    }

    // MARK: -

    /// nil is the parent's own scope.
    private static func isWithin(_ wanted: [String]?, _ allowed: [String]?) -> Bool {
        guard let wanted, let allowed else { return true }
        return wanted.allSatisfy(allowed.contains)
    }

    private func judgeScope(
        _ schemeCodes: [String]?, _ actions: [String]?
    ) throws(ServiceFailure) {
        try Check.range(schemeCodes?.count, in: 1...Self.scopeCountMax, "schemeCodes")
        try Check.range(actions?.count, in: 1...Self.scopeCountMax, "actions")
        for action in actions ?? [] { try Check.length(action, in: 1...64, "actions") }
    }

    private func seal(_ secret: String, _ context: String) -> StoredBytes {
        StoredBytes(sealer.seal(Array(secret.utf8), context: context))
    }

    private func note(_ message: StaticString, _ id: String, _ context: CallContext) {
        log.info(
            message,
            [
                TokenSignals.Key.accessKey: .text(id),
                TokenSignals.Key.principal: .text(context.principal.description),
            ])
    }
}
