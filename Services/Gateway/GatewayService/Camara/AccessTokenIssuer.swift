package import Bus
package import Effects
import Messages
package import Primitives

/// One authorization server whose access tokens are believed, and what they mean here.
package struct AccessTokenIssuer: Sendable {
    /// Whose schemes a token may use.
    package enum Client: Sendable, Hashable {
        /// As the configuration says.
        case fixed(owner: String, schemeCode: String)
        /// As the token says; of the sandbox only.
        case claims
    }

    /// Where a token tells the device's number.
    package enum Device: Sendable, Hashable {
        /// A claim with an opaque token that the carrier exchanges for the number.
        case carrierToken(claim: String)
        /// A claim with the number itself, as `+…` or `tel:+…`.
        case number(claim: String)
        case nothing
    }

    package let name: String
    /// nil: any.
    package let audience: String?
    package let client: Client
    package let device: Device
    /// `amr` values that mean authentication by network or SIM.
    package let methods: [String]
    /// When not empty: the only wordings that its clients may send.
    package let messages: [String]
    package let keys: any AccessTokenKeys

    /// CAMARA's flows name network based authentication `nba` and `mnba`; SIM based authentication
    /// (GSMA TS.43) has no published value.
    package static let methodsStandard = ["nba", "mnba", "sim", "ts43"]

    package init(
        name: String, audience: String?, client: Client, device: Device,
        methods: [String] = Self.methodsStandard, messages: [String] = [],
        keys: any AccessTokenKeys
    ) {
        self.name = name
        self.audience = audience
        self.client = client
        self.device = device
        self.methods = methods
        self.messages = messages
        self.keys = keys
    }

    package static func sandbox(_ keys: any AccessTokenKeys) -> Self {
        Self(
            name: SandboxIssuer.issuer, audience: SandboxIssuer.audience, client: .claims,
            device: .carrierToken(claim: SandboxIssuer.carrierTokenClaim), keys: keys)
    }
}

/// Where the keys of an issuer come from.
package protocol AccessTokenKeys: Sendable {
    /// nil: the issuer has no such key.
    /// - Throws: what the bus says when it cannot be asked.
    func key(_ keyID: String) async throws(ServiceFailure) -> JSONWebKey?
}

/// Keys of a JWKS file, read at start and again at every reload.
package final class KeySetFile: AccessTokenKeys {
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    private let path: String
    private let read: @Sendable (String) throws -> [UInt8]
    private let log: Log
    private let held: Lock<JSONWebKeySet>

    /// - Parameter read: the bytes of a file.
    /// - Throws: `Problem` for a file without one usable key, or what `read` throws.
    package init(
        path: String, log: Log, read: @escaping @Sendable (String) throws -> [UInt8]
    ) throws {
        self.path = path
        self.read = read
        self.log = log
        held = Lock(JSONWebKeySet(keys: []))
        try reload()
    }

    /// A file that cannot be used leaves the keys as they were.
    package func reload() throws {
        guard let found = JSONWebKeySet(try read(path)) else {
            throw Problem(description: "\(path) is no JSON Web Key Set (RFC 7517)")
        }
        for problem in found.problems {
            log.warning(
                "key of an issuer not usable",
                [GatewaySignals.file: .text(path), GatewaySignals.reason: .text(problem)])
        }
        guard !found.keys.isEmpty else {
            throw Problem(
                description: "\(path) has no usable key: Ed25519, P-256, or RSA of at least "
                    + "\(ForeignKey.rsaBits.lowerBound) bits, each with a kid")
        }
        held.withLock { $0 = found }
    }

    package func key(_ keyID: String) async throws(ServiceFailure) -> JSONWebKey? {
        held.withLock { $0[keyID] }
    }
}

/// Keys of the sandbox, over the bus. A new sandbox has a new key.
package final class SandboxKeys: AccessTokenKeys {
    /// After so long the set is asked for again.
    package static let freshFor = Duration.seconds(5)
    /// A key that is not in the set asks again at most once per so long: forged tokens cost the
    /// sandbox nothing.
    package static let refetchGap = Duration.seconds(1)

    private struct Held: Sendable {
        var set: JSONWebKeySet?
        var askedAt: Duration?
    }

    private let bus: any BusCaller
    private let pause: any Pause
    private let held = Lock(Held())

    package init(bus: any BusCaller, pause: any Pause) {
        self.bus = NotedBus(bus)
        self.pause = pause
    }

    package func key(_ keyID: String) async throws(ServiceFailure) -> JSONWebKey? {
        let now = pause.steadyNow()
        let known = held.withLock { held -> JSONWebKeySet? in
            guard let set = held.set, let askedAt = held.askedAt else { return nil }
            let span = set[keyID] == nil ? Self.refetchGap : Self.freshFor
            return now - askedAt < span ? set : nil
        }
        if let known { return known[keyID] }
        let answer = try await bus.call(GetAccessKeys())
        let set = JSONWebKeySet(keys: answer.keys.compactMap(Self.key))
        held.withLock { held in
            held.set = set
            held.askedAt = now
        }
        return set[keyID]
    }

    private static func key(_ published: PublicKey) -> JSONWebKey? {
        guard published.kty == "OKP", published.crv == "Ed25519",
            let bytes = Base64URL.decode(published.x)
        else { return nil }
        return JSONWebKey(keyID: published.kid, material: .ed25519(bytes))
    }
}
