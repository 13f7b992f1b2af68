import DaemonKit
package import Effects
import HTTPServer
package import HTTPTypes

/// What an operator decides about an HTTP server; the rest has one good value.
package struct HTTPListening: Sendable {
    package var host = "127.0.0.1"
    /// Of instance 1; instance n takes the port n − 1 above. 0 takes any free port, for instance 1
    /// the one it had last if that is free.
    package var port = 0
    /// PEM; empty serves plain HTTP.
    package var certificateFile = ""
    package var keyFile = ""
    package var connectionsMax = 4096
    package var connectionsPerAddressMax = 1024
    package var idleSeconds = 30
    package var headBytesMax = 32 * 1024

    package init() {}
}

extension Parts {
    /// A server that listens from now on. Instance 1 writes its address into `run/endpoints.json`.
    package func httpServer(
        _ listening: HTTPListening, _ handler: any HTTPHandler
    ) throws -> any DaemonPart {
        var settings = HTTPServerSettings()
        settings.host = listening.host
        settings.port = try Self.port(listening.port, instance: instanceID)
        if !listening.certificateFile.isEmpty {
            settings.identity = HTTPServerSettings.IdentityFiles(
                certificate: listening.certificateFile, key: listening.keyFile)
        }
        settings.connectionsMax = listening.connectionsMax
        settings.connectionsPerAddressMax = listening.connectionsPerAddressMax
        settings.idleSeconds = listening.idleSeconds
        settings.headBytesMax = listening.headBytesMax
        let memory =
            settings.port == 0 && instanceID == "1"
            ? PortMemory(home: context.home, daemon: context.daemon) : nil
        let server = try httpServer(settings, first: memory?.port, handler)
        try memory?.keep(server.port)
        if server.isSecure {
            context.hooks.onReload("certificate") { try server.reloadIdentity() }
        }
        let file = instanceID == "1" ? EndpointsFile(home: context.home) : nil
        try file?.write(http: server.address)
        log.info("listens", ["address": .text(server.address)])
        return HTTPPart(server: server, file: file, log: log)
    }

    /// - Parameter first: a port to try before the one of `settings`.
    private func httpServer(
        _ settings: HTTPServerSettings, first: Int?, _ handler: any HTTPHandler
    ) throws(HTTPServerProblem) -> HTTPServer {
        if let first {
            var known = settings
            known.port = first
            do throws(HTTPServerProblem) {
                return try HTTPServer(
                    known, handler: handler, pause: pause, metrics: metrics, log: log)
            } catch {
                guard case .portTaken = error else { throw error }
            }
        }
        return try HTTPServer(
            settings, handler: handler, pause: pause, metrics: metrics, log: log)
    }

    private static func port(_ first: Int, instance: String) throws(WiringProblem) -> Int {
        guard first != 0 else { return 0 }
        guard let number = Int(instance), number > 0, first + number - 1 <= 65_535 else {
            throw WiringProblem(
                "instance \(instance) has no port of its own beside httpPort \(first)",
                next: "number the instances from 1, or give this one --set gateway.httpPort=0")
        }
        return first + number - 1
    }
}

/// A server whose address others may read.
private struct HTTPPart: DaemonPart {
    let server: HTTPServer
    let file: EndpointsFile?
    let log: Log

    var name: String { server.name }

    func run() async throws { try await server.run() }

    func drain() async {
        do {
            try file?.write(http: nil)
        } catch {
            log.error("the address could not be taken back", ["error": .text("\(error)")])
        }
        await server.drain()
    }
}
