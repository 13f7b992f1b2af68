import Bus
import HTTPTypes
import Messages
import Primitives

/// A genuine call of one action: who calls, with what, and the way to the services.
struct DypnsapiCall: Sendable {
    let parameters: DypnsapiParameters
    let key: AuthenticatedKey
    let configuration: GatewayConfiguration
    let bus: any BusCaller
    let scope: RequestScope
    /// Of the optional header; the client libraries know none.
    let requestKey: String?
    /// Of bytes, lower-case hex.
    let sha256: @Sendable ([UInt8]) -> String

    /// Asks a service for the owner of the key.
    /// - Parameter part: of several writes of one call, each has a key of its own.
    func ask<Request: BusRequest>(
        _ request: Request, part: String? = nil
    ) async throws(ServiceFailure) -> Request.Reply {
        var key = requestKey
        if let whole = requestKey, let part { key = sha256(Array("\(whole)\n\(part)".utf8)) }
        return try await bus.call(
            request, scope.options(for: .integrator(self.key.owner), requestKey: key))
    }

    /// The scheme that a call names, or that of the key.
    /// - Throws: `Forbidden.RAM` for one that the key does not cover.
    func scheme(_ named: String?) throws(DypnsapiError) -> String {
        if let named {
            guard key.schemeCodes?.contains(named) ?? true else { throw .forbidden }
            return named
        }
        if let code = key.defaultSchemeCode { return code }
        if let codes = key.schemeCodes, codes.count == 1 { return codes[0] }
        throw DypnsapiError(
            400, "MissingSchemeCode", "SchemeCode is mandatory for this access key.",
            recommend: "Give SchemeCode, or make the key with a default scheme of its owner: "
                + "`fusionctl key create OWNER --default-scheme CODE`.")
    }

    /// A key that is held to some schemes makes no others.
    func requireAllSchemes() throws(DypnsapiError) {
        guard key.schemeCodes == nil else { throw .forbidden }
    }
}

/// The optional header that makes a call safe to repeat.
enum IdempotencyKey {
    static let field = "Idempotency-Key"

    static func read(_ headers: HTTPHeaders) throws(DypnsapiError) -> String? {
        let given = headers.values(field)
        guard let key = given.first else { return nil }
        guard given.count == 1, (1...CallContext.requestKeyBytesMax).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw .invalid(
                field, "takes 1 to \(CallContext.requestKeyBytesMax) visible ASCII characters")
        }
        return key
    }
}
