/// What this program is. The version lives here alone: daemons, READY frames and `--version` show
/// it.
package enum BuildInfo {
    package static let version = "0.1.0"

    package static var configuration: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }
}
