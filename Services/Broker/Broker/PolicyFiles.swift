import Effects
package import Majordomo
package import Primitives

/// `etc/policy.toml`: which Unix users are who, and, where the defaults do not fit, which role may
/// call what.
package struct PolicyFile: DefaultedConfiguration {
    package struct User: DefaultedConfiguration {
        package var uid = 0
        /// How the bus names this user; empty: `uid-<uid>`.
        package var name = ""
        package var roles: [String] = []
        /// Service names it may register: exact, `prefix.*` or `*`.
        package var serve: [String] = []
        package init() {}
    }

    package struct Role: DefaultedConfiguration {
        package var name = ""
        /// Replaces the defaults of this role.
        package var call: [String] = []
        package init() {}
    }

    package var uid: [User] = []
    package var role: [Role] = []
    package init() {}
}

/// `etc/peers.toml`: machines and programs that come over tcp, each with one key and one role.
package struct PeersFile: DefaultedConfiguration {
    package struct Peer: DefaultedConfiguration {
        package var name = ""
        /// CURVE public key in Z85, 40 characters.
        package var publicKey = ""
        package var role = ""
        package var serve: [String] = []
        /// Services it may call besides those of its role: what other teams serve.
        package var call: [String] = []
        package init() {}
    }

    package var peer: [Peer] = []
    package init() {}
}

/// Everything wrong with the two files together, one sentence each.
package struct PolicyProblems: Error, Hashable, Sendable, CustomStringConvertible {
    package let sentences: [String]
    package var description: String { sentences.joined(separator: "\n") }
}

/// Turns the files into the value that the broker judges by.
package struct PolicyReader {
    private static let keyBytesCount = 32
    private static let servicePatternsMax = 256

    private var calls: [(role: Roles, patterns: [NamePattern])] = RoleDefaults.calls
    private var problems: [String] = []
    private var grants: [PeerIdentity: BrokerGrant] = [:]

    private init() {}

    package static func read(
        _ policy: PolicyFile, _ peers: PeersFile
    ) throws(PolicyProblems) -> BrokerPolicy {
        var reader = PolicyReader()
        for role in policy.role { reader.take(role) }
        for user in policy.uid { reader.take(user) }
        for peer in peers.peer { reader.take(peer) }
        if reader.grants.count > BrokerPolicy.grantsMax {
            reader.problems.append("peers: at most \(BrokerPolicy.grantsMax)")
        }
        guard reader.problems.isEmpty else { throw PolicyProblems(sentences: reader.problems) }
        return BrokerPolicy(reader.grants)
    }

    private mutating func take(_ role: PolicyFile.Role) {
        guard let known = Roles(name: role.name),
            let index = calls.firstIndex(where: { $0.role == known })
        else {
            problems.append("role \"\(role.name)\": is none of \(RoleDefaults.names)")
            return
        }
        calls[index].patterns = patterns(role.call, "role \(role.name): call")
    }

    private mutating func take(_ user: PolicyFile.User) {
        let place = "uid \(user.uid)"
        var roles: Roles = []
        for name in user.roles { roles.formUnion(self.role(name, place)) }
        guard let uid = UInt32(exactly: user.uid) else {
            problems.append("\(place): is no uid")
            return
        }
        let name = user.name.isEmpty ? "uid-\(uid)" : user.name
        add(.user(uid), roles, name, user.serve, [], place)
    }

    private mutating func take(_ peer: PeersFile.Peer) {
        let place = "peer \"\(peer.name)\""
        let roles = role(peer.role, place)
        guard let key = Z85.decode(peer.publicKey), key.count == Self.keyBytesCount else {
            problems.append("\(place): publicKey is no key of 40 characters in Z85")
            return
        }
        add(.key(key), roles, peer.name, peer.serve, peer.call, place)
    }

    private mutating func add(
        _ identity: PeerIdentity, _ roles: Roles, _ name: String, _ serve: [String],
        _ more: [String], _ place: String
    ) {
        guard grants[identity] == nil else {
            problems.append("\(place): is there twice")
            return
        }
        guard let principal = Principal(roles: roles, name: name) else {
            problems.append("\(place): a name has 1…\(Principal.nameBytesMax) printable bytes")
            return
        }
        let call =
            calls.filter { roles.contains($0.role) }.flatMap(\.patterns)
            + patterns(more, "\(place): call")
        grants[identity] = BrokerGrant(
            principal: principal, call: call, serve: patterns(serve, "\(place): serve"))
    }

    private mutating func role(_ name: String, _ place: String) -> Roles {
        if let role = Roles(name: name) { return role }
        problems.append("\(place): role \"\(name)\" is none of \(RoleDefaults.names)")
        return []
    }

    private mutating func patterns(_ texts: [String], _ place: String) -> [NamePattern] {
        if texts.count > Self.servicePatternsMax {
            problems.append("\(place): at most \(Self.servicePatternsMax) names")
        }
        return texts.prefix(Self.servicePatternsMax).compactMap { text in
            let pattern = NamePattern(text)
            if pattern == nil {
                problems.append("\(place): \"\(text)\" is no name, prefix.* or *")
            }
            return pattern
        }
    }
}

/// Which role may call which service, unless `policy.toml` says otherwise. Methods, owners and
/// schemes are judged by the services themselves.
package enum RoleDefaults {
    package static let calls: [(role: Roles, patterns: [NamePattern])] = [
        (
            .integrator,
            named("token", "scheme", "verification", "smscode", "upgoing", "scene")
        ),
        (
            .gateway,
            named(
                "token", "scheme", "key.internal", "verification", "smscode", "upgoing",
                "smscode.internal", "scene", "sandbox")
        ),
        (
            .service,
            named(
                "token", "scheme", "verification.internal", "smscode", "upgoing",
                "smscode.internal", "sandbox")
        ),
        (
            .operator,
            named(
                "token", "scheme", "key", "verification", "smscode", "scene", "sandbox", "bench.*",
                "mmi.*")
        ),
    ]

    /// The echo service and the question whether somebody serves a name harm nobody.
    private static let always = ["echo", "mmi.service"]

    static var names: String {
        calls.flatMap(\.role.names).joined(separator: ", ")
    }

    private static func named(_ texts: String..., more: [String] = always) -> [NamePattern] {
        (texts + more).compactMap { NamePattern($0) }
    }
}
