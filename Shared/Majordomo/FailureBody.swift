package import Primitives

/// The constant JSON-RPC errors (id null) that the bus answers itself; it never reads a body.
package enum FailureBody {
    package static func reason(_ status: BusStatus) -> ErrorCode {
        switch status {
        case .ok, .internalFault, .refused: .internalFault
        case .cancelled: .unavailable
        case .malformed: .invalidParameters
        case .deadlinePassed: .deadlinePassed
        case .noSuchService: .unavailable
        case .notAllowed: .notAllowed
        case .overloaded: .overloaded
        case .workerLost: .workerLost
        }
    }

    package static func message(_ status: BusStatus) -> String {
        switch status {
        case .ok, .internalFault, .refused: "the bus failed; see the broker's log"
        case .cancelled: "the call was cancelled"
        case .malformed: "the request is not a message of the bus"
        case .deadlinePassed: "the deadline passed before an answer"
        case .noSuchService: "no worker serves this name"
        case .notAllowed: "this peer may not call this service"
        case .overloaded: "too much waits already; repeat later"
        case .workerLost: "the worker was lost with the request in hand"
        }
    }

    package static func json(_ status: BusStatus, retryAfterMilliseconds: UInt32) -> [UInt8] {
        let text =
            #"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":""# + message(status)
            + #"","data":{"reason":""# + reason(status).rawValue
            + #"","retryAfterMilliseconds":"# + String(retryAfterMilliseconds) + "}}}"
        return Array(text.utf8)
    }
}
