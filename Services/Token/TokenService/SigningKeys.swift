import Bus
import Effects
import Messages
import Primitives
import Storage

/// The signing keys of all instances, through the store.
struct SigningKeys: Sendable {
    /// How long an instance may sign with a key after another one rotated it away. Far below the 5
    /// minutes that `SigningKeySet.publishedFor` leaves.
    static let freshFor = Duration.seconds(1)

    private let store: any Store
    private let sealer: any Sealer
    private let signer: any TokenSigner
    private let clock: any WallClock
    private let pause: any Pause
    private let seen = Lock<(set: SigningKeySet, until: Duration)?>(nil)

    init(
        store: any Store, sealer: any Sealer, signer: any TokenSigner, clock: any WallClock,
        pause: any Pause
    ) {
        self.store = store
        self.sealer = sealer
        self.signer = signer
        self.clock = clock
        self.pause = pause
    }

    /// For signing: at most `freshFor` old.
    func recent() async throws(ServiceFailure) -> SigningKeySet {
        if let seen = seen.withLock(\.self), seen.until > pause.steadyNow() { return seen.set }
        return try await read()
    }

    /// For judging: a key that another instance made a moment ago is looked up at once.
    func naming(_ keyID: String) async throws(ServiceFailure) -> SigningKeySet {
        if let seen = seen.withLock(\.self), seen.set.key(keyID) != nil { return seen.set }
        return try await read()
    }

    /// As stored now. The first reader of all makes the first key.
    func read() async throws(ServiceFailure) -> SigningKeySet {
        let found = try await store.decide { rows throws(ServiceFailure) in
            rows.get(TokenTables.signingKey, SigningKeySet.rowName)
        }
        if let found { return remember(found) }
        let first = SigningKeySet(first: candidate(now: clock.now()))
        return remember(
            try await store.decide { rows throws(ServiceFailure) in
                if let found = rows.get(TokenTables.signingKey, SigningKeySet.rowName) {
                    return found
                }
                rows.put(TokenTables.signingKey, first)
                return first
            })
    }

    func forget() { seen.withLock { $0 = nil } }

    /// A key that is in no set yet.
    func candidate(now: WallTime) -> SigningKeyRecord {
        let (seed, publicKey) = signer.generateKeyPair()
        let keyID = thumbprint(publicKey)
        return SigningKeyRecord(
            keyID: keyID, publicKey: StoredBytes(publicKey),
            seed: StoredBytes(sealer.seal(seed.reveal(), context: Self.context(keyID))),
            createdAt: now)
    }

    func seed(of key: SigningKeyRecord) throws(ServiceFailure) -> Secret<[UInt8]> {
        guard let seed = sealer.open(key.seed.bytes, context: Self.context(key.keyID)) else {
            throw TokenFailure.sealedValueLost
        }
        return Secret(seed)
    }

    private func remember(_ set: SigningKeySet) -> SigningKeySet {
        let until = pause.steadyNow() + Self.freshFor
        seen.withLock { $0 = (set, until) }
        return set
    }

    /// RFC 7638 §3 with the members of RFC 8037 §2, in their fixed order.
    private func thumbprint(_ publicKey: [UInt8]) -> String {
        let text = #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64URL.encode(publicKey))"}"#
        return Base64URL.encode(signer.sha256(Array(text.utf8)))
    }

    private static func context(_ keyID: String) -> String { "signing_key.seed/\(keyID)" }
}

extension SigningKeySet {
    /// The JWKS of `records`.
    static func keySet(_ records: [SigningKeyRecord]) -> PublicKeySet {
        PublicKeySet(
            keys: records.map { record in
                PublicKey(
                    kty: "OKP", crv: "Ed25519", x: Base64URL.encode(record.publicKey.bytes),
                    kid: record.keyID, use: "sig", alg: CompactToken.algorithms[0])
            })
    }
}
