import Primitives
package import ZeroMQTransport

/// What `fusionctl peer add` writes for a peer: `name = "value"` lines, valid TOML.
package struct PeerFile: Sendable {
    private let path: String
    private let values: [String: String]

    package init(path: String) throws(WiringProblem) {
        self.path = path
        values = Self.parse(String(decoding: try TextFile.read(path), as: UTF8.self))
    }

    static func parse(_ text: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let first = parts.first, let last = parts.last else { continue }
            let name = first.filter { $0 != " " }
            let value = last.drop { $0 == " " }
            guard value.hasPrefix("\""), value.hasSuffix("\""), value.count >= 2 else { continue }
            values[String(name)] = String(value.dropFirst().dropLast())
        }
        return values
    }

    package func ownKeys() throws(WiringProblem) -> CurveKeyPair {
        guard let publicKey = values["public_key"].flatMap(Z85.decode),
            let secretKey = values["secret_key"].flatMap(Z85.decode),
            let pair = CurveKeyPair(publicKey: publicKey, secretKey: Secret(secretKey))
        else {
            throw WiringProblem(
                "\(path) lacks public_key or secret_key, 40 characters of Z85 each",
                next: "fusionctl peer add NAME --role ROLE --out FILE")
        }
        return pair
    }

    /// The broker that the file names, with the file's own keys.
    package func endpoint() throws(WiringProblem) -> BrokerEndpoint {
        guard let endpoint = values["endpoint"], endpoint.hasPrefix("tcp://"),
            let brokerKey = values["broker_key"].flatMap(Z85.decode)
        else {
            throw WiringProblem(
                "\(path) lacks endpoint (tcp://…) or broker_key",
                next: "add it again while the broker runs: fusionctl peer add")
        }
        return BrokerEndpoint(address: endpoint, curve: (brokerKey, try ownKeys()))
    }
}
