import Primitives

/// `peer …`: who may connect over tcp.
enum PeerCommands {
    static let all = [add, remove, list]

    private static let add = Command(
        CommandSyntax(
            "peer add", operands: ["NAME"],
            options: [
                .value("role", "ROLE", "integrator, gateway, service or operator"),
                .value("public-key", "Z85", "the peer's own key; else a pair is made"),
                .value("serve", "NAME,…", "services it may serve: a name, prefix.* or *"),
                .value("call", "NAME,…", "services it may call besides those of its role"),
                .value("out", "FILE", "where its endpoint and keys go, mode 0600"),
            ], "admits a peer at once, and writes down what it needs to connect")
    ) { arguments, desk in
        let role = try arguments.required("role")
        guard Roles(name: role) != nil else {
            throw CommandFailure(
                "there is no role \(role)",
                next: "--role takes integrator, gateway, service or operator", status: .usage)
        }
        let name = try arguments.required(0)
        guard Principal(roles: .integrator, name: name) != nil else {
            throw CommandFailure(
                "a peer's name has 1…\(Principal.nameBytesMax) bytes and no control characters",
                next: "choose another name", status: .usage)
        }
        let out = arguments["out"]
        guard out != nil || arguments["public-key"] != nil else {
            throw CommandFailure(
                "the peer's secret key needs a place", next: "add --out FILE", status: .usage)
        }
        let peer = try desk.machine.addPeer(
            PeerRequest(
                name: name, role: role, publicKey: arguments["public-key"],
                serves: arguments.list("serve") ?? [], calls: arguments.list("call") ?? []),
            home: desk.home)
        if let out { try desk.machine.writePrivateFile(out, Array(file(peer).utf8)) }
        desk.show(
            .object([
                "name": .text(peer.name), "role": .text(peer.role),
                "endpoint": .text(peer.endpoint), "brokerKey": .text(peer.brokerKey),
                "publicKey": .text(peer.publicKey), "file": .text(out),
                "admitted": .flag(peer.isBrokerTold),
            ]))
        if !peer.isBrokerTold {
            desk.terminal.progress("no broker runs here; the peer is admitted when one starts")
        }
        return .done
    }

    /// One `name = "value"` a line: valid TOML, and easy to read without a library.
    private static func file(_ peer: AddedPeer) -> String {
        var lines = [
            "# What \(peer.name) needs to connect. Keep it private: it holds a secret key.",
            "# Keys are Z85 text of 40 characters (ZeroMQ RFC 32).",
            "name = \(JSONValue.text(peer.name).compact)",
            "role = \"\(peer.role)\"",
            "endpoint = \"\(peer.endpoint ?? "")\"",
            "broker_key = \"\(peer.brokerKey)\"",
            "public_key = \"\(peer.publicKey)\"",
        ]
        if let secret = peer.secretKey { lines.append("secret_key = \"\(secret.reveal())\"") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let remove = Command(
        CommandSyntax(
            "peer remove", operands: ["NAME"],
            "takes a peer's admission back at once, on open connections too")
    ) { arguments, desk in
        let name = try arguments.required(0)
        try desk.machine.removePeer(name, home: desk.home)
        desk.show(.object(["removed": .text(name)]))
        return .done
    }

    private static let list = Command(
        CommandSyntax("peer list", "who may connect over tcp")
    ) { _, desk in
        let peers = try desk.machine.peers(home: desk.home)
        if desk.isJSON {
            let items = peers.map { peer in
                JSONValue.object([
                    "name": .text(peer.name), "role": .text(peer.role),
                    "publicKey": .text(peer.publicKey),
                    "serves": .list(peer.serves.map { .text($0) }),
                    "calls": .list(peer.calls.map { .text($0) }),
                ])
            }
            desk.show(.object(["peers": .list(items)]))
            return .done
        }
        var table = Table(["NAME", "ROLE", "PUBLIC KEY", "SERVES", "CALLS TOO"])
        for peer in peers {
            table.add([
                peer.name, peer.role, peer.publicKey,
                peer.serves.isEmpty ? "–" : peer.serves.joined(separator: ", "),
                peer.calls.isEmpty ? "–" : peer.calls.joined(separator: ", "),
            ])
        }
        desk.terminal.result(
            peers.isEmpty
                ? "no peers yet → fusionctl peer add NAME --role integrator --out FILE"
                : table.text)
        return .done
    }
}
