/// Metric names and log keys, declared once.
enum EchoSignals {
    static let echoes = "echo_answers_total"
}
