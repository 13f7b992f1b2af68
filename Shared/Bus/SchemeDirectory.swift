package import Effects
package import Messages
package import Primitives

/// Schemes as the other services see them: read from the token service, cached for a short while.
///
/// A scheme that was disabled is refused by everybody at most `freshFor` later.
package struct SchemeDirectory: Sendable {
    package static let freshFor = Duration.seconds(5)
    /// A code that does not exist is asked again sooner.
    package static let absentFor = Duration.seconds(1)
    package static let entriesMax = 4_096

    private struct Name: Hashable, Sendable {
        let code: String
        let version: Int64?
    }
    private struct Entry: Sendable {
        let answer: Result<Scheme, ServiceFailure>
        let until: Duration
    }

    private let bus: any BusCaller
    private let pause: any Pause
    private let entries = Lock<[Name: Entry]>([:])

    package init(bus: any BusCaller, pause: any Pause) {
        self.bus = bus
        self.pause = pause
    }

    /// - Throws: `scheme_not_found`, or what the bus says when the token service cannot be asked.
    package func scheme(
        _ code: String, version: Int64? = nil, _ context: CallContext
    ) async throws(ServiceFailure) -> Scheme {
        let name = Name(code: code, version: version)
        let now = pause.steadyNow()
        if let entry = entries.withLock({ $0[name] }), entry.until > now {
            return try entry.answer.get()
        }
        let answer: Result<Scheme, ServiceFailure>
        do throws(ServiceFailure) {
            answer = .success(
                try await bus.call(
                    GetScheme(schemeCode: code, version: version), context.nested(pause)))
        } catch {
            guard error.code == .schemeNotFound else { throw error }
            answer = .failure(error)
        }
        let isThere = if case .success = answer { true } else { false }
        let until = pause.steadyNow() + (isThere ? Self.freshFor : Self.absentFor)
        entries.withLock { entries in
            if entries.count >= Self.entriesMax { entries.removeAll(keepingCapacity: true) }
            entries[name] = Entry(answer: answer, until: until)
        }
        return try answer.get()
    }

    /// A scheme that is switched on and that the caller may use: operators, services and the
    /// gateway (for
    /// itself) any, everybody else their own.
    /// - Throws: `scheme_not_found` (also for another owner's, so that codes cannot be probed),
    /// `scheme_disabled`.
    package func usable(
        _ code: String, version: Int64? = nil, _ context: CallContext
    ) async throws(ServiceFailure) -> Scheme {
        let scheme = try await scheme(code, version: version, context)
        guard context.mayUse(scheme) else {
            throw ServiceFailure(
                .schemeNotFound, "there is no such scheme", field: "schemeCode")
        }
        guard !scheme.disabled else {
            throw ServiceFailure(
                .schemeDisabled, "the scheme is switched off", field: "schemeCode")
        }
        return scheme
    }
}

extension CallContext {
    /// Operators and services use every scheme, the gateway for itself too; integrators their own.
    package func mayUse(_ scheme: Scheme) -> Bool { mayUse(schemeOf: scheme.owner) }

    package func mayUse(schemeOf owner: String) -> Bool {
        isAny(of: [.operator, .service, .gateway]) || principal.name == owner
    }
}
