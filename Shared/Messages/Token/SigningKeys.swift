import Primitives

/// A JWKS (RFC 7517) of Ed25519 keys (RFC 8037): the current key first, then those whose tokens may
/// still live.
public struct PublicKeySet: Codable, Sendable, Hashable {
    public let keys: [PublicKey]

    public init(keys: [PublicKey]) {
        self.keys = keys
    }
}

/// One key of the set.
public struct PublicKey: Codable, Sendable, Hashable {
    public let kty: String
    public let crv: String
    /// base64url of the 32-byte public key.
    public let x: String
    /// RFC 7638 thumbprint.
    public let kid: String
    public let use: String
    public let alg: String

    public init(kty: String, crv: String, x: String, kid: String, use: String, alg: String) {
        self.kty = kty
        self.crv = crv
        self.x = x
        self.kid = kid
        self.use = use
        self.alg = alg
    }
}

/// The public keys that verify auth tokens offline.
public struct GetSigningKeys: BusRequest {
    public typealias Reply = PublicKeySet
    public static let method = Method(
        "token.keys", .read, callers: [.integrator, .gateway, .service, .operator])
    public init() {}
}

/// Makes a new signing key. Old keys stay published until no token of theirs can live.
/// Errors: `too_many` (rotations within 48 hours).
public struct RotateSigningKey: BusRequest {
    public typealias Reply = Rotated
    public static let method = Method(
        "token.rotate", .write, callers: [.operator])

    public struct Rotated: Codable, Sendable {
        public let kid: String
        public let publishedKids: [String]
        public init(kid: String, publishedKids: [String]) {
            self.kid = kid
            self.publishedKids = publishedKids
        }
    }
    public init() {}
}
