import Cryptography
package import DaemonKit

/// The key rings of a home: one file for each service, so that none can read another's.
package enum KeyRings {
    /// Services that keep keys; `init` makes their rings.
    package static let services = ["token", "verification", "smscode", "scene"]

    package static func file(of service: String, in home: Home) -> String {
        home.keyFile("\(service).ring")
    }

    /// A service of the list above must find the ring that `init` made, since a fresh one could not
    /// open its rows; others get one that dies with the process.
    static func ring(of service: String, in home: Home) throws(WiringProblem) -> KeyRing {
        guard services.contains(service) else { return KeyRing.ephemeral() }
        do throws(KeyRingProblem) {
            return try KeyRing(path: file(of: service, in: home))
        } catch {
            guard case .missing = error else { throw WiringProblem("\(error)") }
            throw WiringProblem(
                "\(error)", next: "fusionctl --home \(home.path) init, or restore the backup")
        }
    }
}
