package import DaemonKit
import FoundationEssentials
import Glibc
import Primitives

/// `run/endpoints.json`: where the daemons of this home listen. The broker writes its part, the
/// gateway adds its own.
package struct EndpointsFile: Sendable {
    package struct Content: Codable, Sendable, Hashable {
        package var ipc: String?
        package var tcp: String?
        package var http: String?
        /// Z85.
        package var brokerKey: String?

        init(http: String? = nil) { self.http = http }
    }

    private let path: String

    package init(home: Home) { path = home.endpointsFile }

    package func read() -> Content? {
        guard let bytes = try? TextFile.read(path) else { return nil }
        return try? JSONDecoder().decode(Content.self, from: Data(bytes))
    }

    func write(ipc: String?, tcp: String?, brokerKey: [UInt8]?) throws {
        var content = read() ?? Content()
        content.ipc = ipc
        content.tcp = tcp
        content.brokerKey = brokerKey.map { Z85.encode($0) }
        try write(content)
    }

    /// The gateway's part.
    package func write(http: String?) throws {
        var content = read() ?? Content()
        content.http = http
        if content == Content() { unlink(path) } else { try write(content) }
    }

    /// The broker's part; what a gateway wrote stays while it runs.
    func removeBroker() {
        guard let http = read()?.http, (try? write(Content(http: http))) != nil else {
            unlink(path)
            return
        }
    }

    private func write(_ content: Content) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try TextFile.write(path, [UInt8](try encoder.encode(content)) + [10], mode: 0o644)
    }
}
