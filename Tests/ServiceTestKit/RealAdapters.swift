import Cryptography
package import Effects
import PhoneNumbers
import SQLiteStorage
package import Storage

/// What a daemon gets in production: libsodium under a fresh key ring, libphonenumber, and SQLite
/// in a folder of its own.
package struct RealAdapters: Sendable {
    private let ring = KeyRing.ephemeral()
    package let store: any Store
    package var random: any RandomSource { SodiumRandom() }
    package var signer: any TokenSigner { SodiumSigner() }
    package var authenticator: any MessageAuthenticator { SodiumAuthenticator() }
    package let phoneNumbers: any PhoneNumberParser = LibPhoneNumberParser()

    package func digest(_ purpose: String) -> any KeyedDigest {
        SodiumKeyedDigest(ring, purpose: purpose)
    }

    package func sealer(_ purpose: String) -> any Sealer {
        SodiumSealer(ring, purpose: purpose)
    }

    package func codes(_ purpose: String) -> any CodeDerivation {
        SodiumCodeDerivation(ring, purpose: purpose)
    }

    package func answers(_ clock: any WallClock) -> Answers {
        Answers(store: store, sealer: sealer("answer"), digest: digest("answer"), clock: clock)
    }

    /// Opens the database, runs `body`, closes it and removes its folder.
    package static func running(
        _ tables: [TableSchema], _ body: (RealAdapters) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let store = try SQLiteStore(path: folder.path + "/service.db", tables: tables)
        do {
            try await body(RealAdapters(store: store))
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }
}
