/// Which transport a test body runs over. Bodies take it as their argument and are the same on
/// both.
package enum TransportUnderTest: String, CaseIterable, Sendable {
    /// `InProcessBus`: no sockets, all time by hand.
    case inProcess
    /// A real broker: workers on ipc, every principal on tcp with a CURVE key of its own.
    case sockets
}
