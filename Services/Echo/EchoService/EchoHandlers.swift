package import Bus
import Messages

extension EchoService {
    /// One line per message. `ping`, `info` and `stats` are added by the bus worker.
    package var handlers: HandlerTable {
        var table = HandlerTable()
        table.on(EchoText.self, echo)
        return table
    }
}
