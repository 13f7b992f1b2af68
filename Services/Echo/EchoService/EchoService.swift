import Bus
package import Effects
import Messages
import Primitives

/// The smallest real service: it answers what it was told. It keeps nothing, so that it needs no
/// store; a service that writes takes its store and its `Answers` here too.
package struct EchoService: Sendable {
    private let pause: any Pause
    private let metrics: any Metrics
    private let configuration: EchoConfiguration

    package init(
        pause: any Pause, metrics: any Metrics = NoMetrics(),
        configuration: EchoConfiguration = EchoConfiguration()
    ) {
        self.pause = pause
        self.metrics = metrics
        self.configuration = configuration
    }

    /// Holds the answer back as asked, but never past the caller's deadline.
    func echo(
        _ request: EchoText, _ context: CallContext
    ) async throws(ServiceFailure) -> EchoedText {
        guard request.text.utf8.count <= configuration.textBytesMax else {
            throw EchoFailure.textTooLong(bytesMax: configuration.textBytesMax)
        }
        if let delay = request.delayMilliseconds, delay > 0 {
            let wanted = Duration.milliseconds(delay)
            let allowed = min(wanted, context.timeLeft(pause) ?? wanted)
            do { try await pause.wait(allowed) } catch { throw EchoFailure.cancelled }
        }
        metrics.count(EchoSignals.echoes)
        return EchoedText(text: request.text)
    }
}
