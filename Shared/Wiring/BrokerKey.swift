import DaemonKit
import Primitives
import ZeroMQTransport

/// `keys/broker.curve`: the CURVE pair by which peers know the broker.
enum BrokerKey {
    static func file(_ home: Home) -> String { home.keyFile("broker.curve") }

    static func create(_ home: Home) throws(WiringProblem) {
        let pair = CurveKeyPair.generate()
        try TextFile.write(
            file(home),
            """
            # The broker's CURVE keys, Z85. Peers hold the public one; the secret one is only here.
            public_key = "\(Z85.encode(pair.publicKey))"
            secret_key = "\(Z85.encode(pair.secretKey.reveal()))"

            """, mode: 0o600)
    }

    static func read(_ home: Home) throws(WiringProblem) -> CurveKeyPair {
        guard TextFile.exists(file(home)) else {
            throw WiringProblem(
                "there is no \(file(home))", next: "fusionctl --home \(home.path) init")
        }
        return try PeerFile(path: file(home)).ownKeys()
    }
}
