import Primitives
import Storage

/// One Ed25519 key that signs, or signed, auth tokens.
struct SigningKeyRecord: Codable, Sendable, Equatable {
    /// RFC 7638 thumbprint.
    let keyID: String
    let publicKey: StoredBytes
    /// Sealed.
    let seed: StoredBytes
    let createdAt: WallTime
    /// When its successor took over; nil for the current key.
    fileprivate(set) var retiredAt: WallTime?
}

/// All signing keys, in one row: whoever reads it sees one current key, and two instances that
/// start or rotate together write the same row, so one of them wins.
///
/// Moves of a key: current → retired (published) → retired (kept) → gone.
/// Invariant: there is a current key, and it is the first.
struct SigningKeySet: StoredRow, Equatable {
    static let rowName = "signing"
    /// A retired key stays in the JWKS until no token of it can live: the longest token, and 5
    /// minutes for instances that had not yet heard of the successor and clocks that differ.
    static let publishedFor = Duration.seconds(12 * 3600 + 300)
    /// Stored answers name a key for 24 h after it last signed, and compose their token again.
    static let keptFor = Duration.seconds(48 * 3600)
    /// Rotations within `keptFor`.
    static let countMax = 32

    enum Rotation: Equatable { case rotated, full }

    let name: String
    private(set) var keys: [SigningKeyRecord]

    init(first: SigningKeyRecord) {
        name = Self.rowName
        keys = [first]
    }

    /// nil only for a row that was not written by us.
    var current: SigningKeyRecord? { keys.first }

    func key(_ keyID: String) -> SigningKeyRecord? { keys.first { $0.keyID == keyID } }

    mutating func rotate(to next: SigningKeyRecord, now: WallTime) -> Rotation {
        keys.removeAll { key in key.retiredAt.map { $0 + Self.keptFor <= now } ?? false }
        guard keys.count < Self.countMax else { return .full }
        // A clock that went back retires a key no earlier than it was made.
        if let current { keys[0].retiredAt = max(now, current.createdAt) }
        keys.insert(next, at: 0)
        return .rotated
    }

    /// Current first, then the latest retired.
    func published(at now: WallTime) -> [SigningKeyRecord] {
        keys.filter { key in key.retiredAt.map { now < $0 + Self.publishedFor } ?? true }
    }
}
