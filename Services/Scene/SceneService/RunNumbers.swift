package import Primitives

/// The numbers of a run, and what else of it is nobody's business. Sealed in its row.
package struct RunNumbers: Codable, Sendable, Equatable {
    /// The account's number as the app server stated it when it asked for the token.
    var bound: PhoneNumber?
    /// What the client stated as the account's number, at a pre-filled or checked node.
    var account: PhoneNumber?
    /// The number that the current node's code goes to.
    var current: PhoneNumber?
    /// The number of a send that was begun and not yet settled.
    var sending: PhoneNumber?
    /// When its risk windows counted it.
    var sendingAt: WallTime?
    /// Proven half-way: from then on the old number.
    var old: PhoneNumber?
    /// Proven at the end.
    var proven: PhoneNumber?
    /// What the person must send, at the current node.
    var upgoingText: String?
    /// The client's word for its device.
    var device: String?
    /// The client's address as the gateway saw it.
    var address: String?

    package init(bound: PhoneNumber? = nil, device: String? = nil, address: String? = nil) {
        self.bound = bound
        self.device = device
        self.address = address
    }
}
