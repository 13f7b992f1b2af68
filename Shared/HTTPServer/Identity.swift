import CMicroHTTP
import Glibc

/// Certificate chain and key of a TLS server.
enum Identity {
    /// Of each file.
    private static let bytesMax = 256 * 1024

    static func read(
        _ files: HTTPServerSettings.IdentityFiles
    ) throws(HTTPServerProblem) -> OpaquePointer {
        let chain = try bytes(files.certificate)
        let key = try bytes(files.key)
        var reason: UnsafePointer<CChar>?
        guard
            let identity = fusion_http_identity_read(
                chain, chain.count, key, key.count, &reason)
        else {
            throw .identity(
                file: "\(files.certificate), \(files.key)",
                reason: reason.map { String(cString: $0) } ?? "cannot be used")
        }
        return identity
    }

    private static func bytes(_ path: String) throws(HTTPServerProblem) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .identity(file: path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = Glibc.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw .identity(file: path, reason: String(cString: strerror(errno)))
            }
            if count == 0 { return bytes }
            bytes += part[..<count]
            guard bytes.count <= bytesMax else {
                throw .identity(file: path, reason: "larger than \(bytesMax) bytes")
            }
        }
    }
}
