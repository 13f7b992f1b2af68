package import Primitives

/// Which names a rule covers: one exactly, everything under `prefix.`, or all.
/// A name is judged without its `@instance`: who may ask a service may ask one instance of it.
package struct NamePattern: Hashable, Sendable, CustomStringConvertible {
    private enum Form: Hashable, Sendable {
        case exactly(String)
        case under(String)
        case all
    }
    private let form: Form

    /// nil for an empty text, one with `*` elsewhere than at the end after a dot, or one not
    /// printable.
    package init?(_ text: String) {
        guard text.utf8.count <= Wire.serviceNameBytesMax,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return nil }
        if text == "*" {
            form = .all
        } else if text.hasSuffix(".*") {
            let prefix = String(text.dropLast())
            guard prefix.utf8.count > 1, !prefix.contains("*") else { return nil }
            form = .under(prefix)
        } else {
            guard !text.isEmpty, !text.contains("*"), !text.contains("@") else { return nil }
            form = .exactly(text)
        }
    }

    package static let all = Self(form: .all)
    private init(form: Form) { self.form = form }

    package func covers(_ name: String) -> Bool {
        let base = name.utf8.firstIndex(of: UInt8(ascii: "@")).map { name[..<$0] } ?? name[...]
        switch form {
        case .exactly(let wanted): return base == wanted
        case .under(let prefix): return base.hasPrefix(prefix)
        case .all: return true
        }
    }

    package var description: String {
        switch form {
        case .exactly(let name): name
        case .under(let prefix): prefix + "*"
        case .all: "*"
        }
    }
}

/// Who a peer proved to be.
package enum PeerIdentity: Hashable, Sendable {
    /// The Unix uid of the process at the other end of the ipc socket.
    case user(UInt32)
    /// The CURVE public key, 32 bytes.
    case key([UInt8])
}

/// What one peer may do.
package struct BrokerGrant: Hashable, Sendable {
    package let principal: Principal
    package let call: [NamePattern]
    package let serve: [NamePattern]

    package init(principal: Principal, call: [NamePattern], serve: [NamePattern]) {
        self.principal = principal
        self.call = call
        self.serve = serve
    }

    package func mayCall(_ service: String) -> Bool { call.contains { $0.covers(service) } }
    package func mayServe(_ service: String) -> Bool { serve.contains { $0.covers(service) } }
}

/// Who is let in, and for what. A value: a reload replaces it whole.
package struct BrokerPolicy: Hashable, Sendable {
    /// Entries of one policy.
    package static let grantsMax = 10_000

    package let grants: [PeerIdentity: BrokerGrant]

    package init(_ grants: [PeerIdentity: BrokerGrant]) {
        precondition(grants.count <= Self.grantsMax, "a policy has at most 10,000 peers")
        self.grants = grants
    }

    package func grant(for identity: PeerIdentity) -> BrokerGrant? { grants[identity] }
}

/// Names an identity in a machine; shells hand them out, in order, from 0.
package struct CallerNumber: Hashable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
}
