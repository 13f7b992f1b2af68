/// The daemons of one home, in the order in which they start; they stop in reverse.
package enum Household {
    package struct Member: Sendable {
        /// The executable, which lies beside `fusionctl`.
        package let daemon: String
        /// A service name of it that answers `ping`; nil for the broker and
        /// for daemons that serve nothing there.
        let service: String?
        /// Left out where `production = true`.
        package let isForDevelopment: Bool
    }

    package static let members = [
        Member(daemon: broker, service: nil, isForDevelopment: false),
        Member(daemon: "fusion-sandbox", service: "sandbox", isForDevelopment: true),
        Member(daemon: "fusion-token", service: "token", isForDevelopment: false),
        Member(daemon: "fusion-verification", service: "verification", isForDevelopment: false),
        Member(daemon: "fusion-smscode", service: "smscode", isForDevelopment: false),
        Member(daemon: "fusion-scene", service: "scene", isForDevelopment: false),
        Member(daemon: gateway, service: nil, isForDevelopment: false),
        Member(daemon: "fusion-echo", service: "echo", isForDevelopment: true),
    ]

    package static let broker = "fusion-broker"
    /// It calls the bus and serves nothing there: it is ready when it listens.
    package static let gateway = "fusion-gateway"

    static func service(of daemon: String) -> String? {
        members.first { $0.daemon == daemon }?.service
    }

    /// - Parameter names: with or without `fusion-`; nil for all that belong to this home.
    static func daemons(
        _ names: [String]?, isProduction: Bool
    ) throws(CommandFailure) -> [String] {
        guard let names else {
            return members.filter { !(isProduction && $0.isForDevelopment) }.map(\.daemon)
        }
        let wanted = names.map { $0.hasPrefix("fusion-") ? $0 : "fusion-\($0)" }
        let known = members.map(\.daemon)
        if let stranger = wanted.first(where: { !known.contains($0) }) {
            throw CommandFailure(
                "there is no daemon \(stranger)",
                next: "--daemons takes: \(known.joined(separator: ", "))", status: .usage)
        }
        return known.filter { wanted.contains($0) }
    }
}
