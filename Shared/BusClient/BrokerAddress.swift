import FoundationEssentials
public import Primitives
import ZeroMQTransport

/// Where a broker is, and how to prove to it who we are.
public struct BrokerAddress: Sendable {
    let endpoint: BrokerEndpoint

    /// Over ipc: the broker knows this process by its Unix uid.
    /// - Parameter path: `run/broker.ipc` of the home.
    public init(ipc path: String) { endpoint = BrokerEndpoint(address: "ipc://\(path)") }

    /// Over tcp: the broker knows this process by its CURVE key.
    /// - Parameters:
    ///   - address: `tcp://host:port`.
    ///   - brokerKey: the broker's public key, Z85, 40 characters.
    ///   - publicKey: our own pair, Z85.
    /// - Throws: `invalid_parameters` with the field at fault.
    public init(
        tcp address: String, brokerKey: String, publicKey: String, secretKey: Secret<String>
    ) throws(ServiceFailure) {
        guard address.hasPrefix("tcp://") else {
            throw ServiceFailure(
                .invalidParameters, "an address is tcp://host:port", field: "address")
        }
        guard let own = Z85.decode(publicKey), let secret = Z85.decode(secretKey.reveal()),
            let pair = CurveKeyPair(publicKey: own, secretKey: Secret(secret)),
            let server = Z85.decode(brokerKey), server.count == CurveKeyPair.bytesCount
        else {
            throw ServiceFailure(
                .invalidParameters, "a key is 40 characters of Z85", field: "keys")
        }
        endpoint = BrokerEndpoint(address: address, curve: (server, pair))
    }

    /// From the file that `fusionctl peer add --out FILE` wrote.
    public init(peerFile path: String) throws(ServiceFailure) {
        let values = try Self.values(path)
        guard let address = values["endpoint"], let brokerKey = values["broker_key"],
            let publicKey = values["public_key"], let secretKey = values["secret_key"]
        else {
            throw ServiceFailure(
                .invalidParameters,
                "a peer file holds endpoint, broker_key, public_key and secret_key",
                field: "peerFile")
        }
        try self.init(
            tcp: address, brokerKey: brokerKey, publicKey: publicKey,
            secretKey: Secret(secretKey))
    }

    /// `name = "value"` lines; others are passed over.
    private static func values(_ path: String) throws(ServiceFailure) -> [String: String] {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw ServiceFailure(
                .invalidParameters, "the peer file cannot be read", field: "peerFile")
        }
        var values: [String: String] = [:]
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let first = parts.first, let last = parts.last else { continue }
            let value = last.drop { $0 == " " }
            guard !line.hasPrefix("#"), value.count >= 2, value.hasPrefix("\""),
                value.hasSuffix("\"")
            else { continue }
            values[first.filter { $0 != " " }] = String(value.dropFirst().dropLast())
        }
        return values
    }
}
