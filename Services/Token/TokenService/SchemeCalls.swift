import Bus
import Effects
import Messages
import Primitives
import Storage

extension TokenService {
    /// Codes drawn for one creation; one in 10^14 is taken per scheme that exists.
    private static let codesDrawn = 3
    /// Policy bytes in one page of a list.
    private static let pageBytesMax = 400_000
    private static let pageCountMax = 100

    func createScheme(
        _ request: CreateScheme, _ context: CallContext
    ) async throws(ServiceFailure) -> Scheme {
        let now = clock.now()
        let owner = try ownerNamed(request.owner, context) ?? context.principal.name
        let content = try content(
            name: request.name, app: request.app, policy: request.policy ?? .standard,
            previous: nil, now: now)
        let codes = (0..<Self.codesDrawn).map { _ in
            SchemeRecord.codePrefix
                + Text.drawn(SchemeRecord.codeDigitsCount, of: SchemeRecord.digits, random)
        }
        let countMax = context.isOperator ? nil : configuration.schemesPerOwnerMax
        let scheme = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            let taken = codes.filter { rows.get(TokenTables.scheme, $0) != nil }
            if let countMax {
                let own = rows.find(
                    TokenTables.scheme, TokenTables.byOwner, owner, limit: max(1, countMax))
                guard own.count < countMax else {
                    throw TokenFailure.tooManySchemes(max: countMax)
                }
            }
            guard let code = codes.first(where: { !taken.contains($0) }) else {
                throw TokenFailure.noFreeName
            }
            let record = SchemeRecord(code: code, owner: owner, content: content, now: now)
            let version = record.versionRow(content)
            rows.put(TokenTables.scheme, record)
            rows.put(TokenTables.schemeVersion, version)
            return record.scheme(version, version: record.version, warnings: content.warnings)
        }
        note("scheme registered", scheme, context)
        return scheme
    }

    func getScheme(
        _ request: GetScheme, _ context: CallContext
    ) async throws(ServiceFailure) -> Scheme {
        try await store.decide { rows throws(ServiceFailure) in
            guard let record = rows.get(TokenTables.scheme, request.schemeCode),
                context.mayUse(schemeOf: record.owner)
            else { throw TokenFailure.schemeNotFound }
            let version = request.version ?? record.version
            guard
                let row = rows.get(
                    TokenTables.schemeVersion, SchemeVersionRow.key(record.code, version))
            else { throw TokenFailure.versionNotFound }
            return record.scheme(row, version: version)
        }
    }

    func listSchemes(
        _ request: ListSchemes, _ context: CallContext
    ) async throws(ServiceFailure) -> SchemeList {
        let owner = try ownerNamed(request.owner, context)
        let (index, value) =
            if let owner { (TokenTables.byOwner, owner) } else {
                (TokenTables.byAll, TokenTables.byAll)
            }
        let upTo = request.after.map { ListOrder.after(ListOrder.of(schemeCode: $0)) }
        let limit = request.limit ?? Self.pageCountMax
        return try await store.decide { rows throws(ServiceFailure) in
            let found = rows.find(
                TokenTables.scheme, index, value, upTo: upTo, newestFirst: true, limit: limit + 1)
            var bytesLeft = Self.pageBytesMax
            var page: [SchemeRecord] = []
            for record in found.prefix(limit) {
                bytesLeft -= record.policyBytesCount
                if bytesLeft < 0, !page.isEmpty { break }
                page.append(record)
            }
            var schemes: [Scheme] = []
            for record in page {
                let key = SchemeVersionRow.key(record.code, record.version)
                if let row = rows.get(TokenTables.schemeVersion, key) {
                    schemes.append(record.scheme(row, version: record.version))
                }
            }
            return SchemeList(
                schemes: schemes, next: page.count < found.count ? page.last?.code : nil)
        }
    }

    func updateScheme(
        _ request: UpdateScheme, _ context: CallContext
    ) async throws(ServiceFailure) -> Scheme {
        let now = clock.now()
        let scheme = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            var record = try own(request.schemeCode, context, &rows)
            if let expected = request.expectedVersion, expected != record.version {
                throw TokenFailure.versionConflict(present: record.version)
            }
            let key = SchemeVersionRow.key(record.code, record.version)
            guard let present = rows.get(TokenTables.schemeVersion, key) else {
                throw TokenFailure.versionNotFound
            }
            let next = try content(
                name: request.name ?? record.name, app: request.app ?? record.app,
                policy: request.policy ?? present.policy, previous: present.policy, now: now)
            let changes =
                next.name != present.name || next.app != present.app
                || next.policy != present.policy
            guard changes else { return record.scheme(present, version: record.version) }
            record.update(to: next, now: now)
            let row = record.versionRow(next)
            rows.put(TokenTables.scheme, record)
            rows.put(TokenTables.schemeVersion, row)
            rows.put(TokenTables.schemeVersion, present.superseded(at: now))
            return record.scheme(row, version: record.version, warnings: next.warnings)
        }
        note("scheme updated", scheme, context)
        return scheme
    }

    func disableScheme(
        _ request: DisableScheme, _ context: CallContext
    ) async throws(ServiceFailure) -> Scheme {
        let now = clock.now()
        let scheme = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            var record = try own(request.schemeCode, context, &rows)
            let key = SchemeVersionRow.key(record.code, record.version)
            guard let row = rows.get(TokenTables.schemeVersion, key) else {
                throw TokenFailure.versionNotFound
            }
            record.setDisabled(request.disabled ?? true, now: now)
            rows.put(TokenTables.scheme, record)
            return record.scheme(row, version: record.version)
        }
        note(scheme.disabled ? "scheme switched off" : "scheme switched on", scheme, context)
        return scheme
    }

    // MARK: -

    /// A scheme that the caller may change: operators any, everybody else their own. Another
    /// owner's does not exist to them, so that codes cannot be probed.
    private func own(
        _ code: String, _ context: CallContext, _ rows: inout Rows
    ) throws(ServiceFailure) -> SchemeRecord {
        guard let record = rows.get(TokenTables.scheme, code),
            context.isOperator || record.owner == context.principal.name
        else { throw TokenFailure.schemeNotFound }
        return record
    }

    /// The owner that a request is about: operators name any, or none; everybody else is theirs.
    private func ownerNamed(
        _ owner: String?, _ context: CallContext
    ) throws(ServiceFailure) -> String? {
        if context.isOperator {
            try Check.length(owner, in: 1...Principal.nameBytesMax, "owner")
            return owner
        }
        guard owner == nil || owner == context.principal.name else {
            throw TokenFailure.foreignOwner
        }
        return context.principal.name
    }

    private func content(
        name: String, app: AppIdentity, policy: SchemePolicy, previous: SchemePolicy?,
        now: WallTime
    ) throws(ServiceFailure) -> SchemeContent {
        try Check.length(name, in: 1...64, "name")
        let app = app.normalised
        let bytesCount = try BusCoding.encode(policy).count
        let review = PolicyReview(app: app, policy: policy, previous: previous, now: now)
        try review.refuse(policyBytesCount: bytesCount)
        return SchemeContent(
            name: name, app: app, policy: policy, policyBytesCount: bytesCount,
            warnings: review.warnings)
    }

    private func note(_ message: StaticString, _ scheme: Scheme, _ context: CallContext) {
        log.info(
            message,
            [
                TokenSignals.Key.scheme: .text(scheme.schemeCode),
                TokenSignals.Key.version: .integer(scheme.version),
                TokenSignals.Key.principal: .text(context.principal.description),
            ])
    }
}
