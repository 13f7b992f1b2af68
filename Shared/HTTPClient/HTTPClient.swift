package import HTTPTypes

/// What one client may use.
package struct HTTPClientLimits: Sendable, Hashable {
    /// Calls under way, those that wait for a connection included.
    package var callsMax = 1_024
    package var connectionsMax = 256
    package var connectionsPerHostMax = 64
    /// Of an answer.
    package var bodyBytesMax = 1 << 20
    /// Status line and fields of an answer.
    package var headBytesMax = 64 * 1024
    package var connectTimeout = Duration.seconds(3)
    /// PEM; nil trusts the authorities of the system.
    package var authoritiesFile: String?

    package init() {}
}

/// HTTP/1.1 over libcurl, on one thread of its own.
///
/// Follows no redirect, uses no proxy, keeps no cookie, speaks nothing but http and https. Connections
/// are kept and used again. A call on a kept connection that the server closes before it answers a
/// single byte is sent once more on a new one: a server that must not see a request twice needs a
/// request key in it.
package final class HTTPClient: HTTPCaller {
    private let shared: TransferMailbox

    /// - Throws: when the system gives no thread, or no descriptor.
    package init(_ limits: HTTPClientLimits = HTTPClientLimits()) throws(HTTPClientFault) {
        let shared = try TransferMailbox(callsMax: limits.callsMax)
        self.shared = shared
        try startThread("fusion-http") {
            guard let loop = TransferLoop(shared, limits) else {
                shared.refuseAll()
                return
            }
            loop.run()
        }
    }

    deinit { shared.post(.close) }

    package func call(_ call: HTTPCall) async throws(HTTPCallFailure) -> HTTPAnswer {
        try HeadCheck.check(call)
        guard !Task.isCancelled else { throw .cancelled }
        guard let ticket = shared.takeTicket() else {
            throw .tooManyCalls(callsMax: shared.callsMax)
        }
        let outcome: Result<HTTPAnswer, HTTPCallFailure> = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                shared.post(.start(CallStart(ticket: ticket, call: call, answer: continuation)))
                // A cancellation that came first found nothing to cancel.
                if Task.isCancelled { shared.post(.cancel(ticket)) }
            }
        } onCancel: {
            shared.post(.cancel(ticket))
        }
        return try outcome.get()
    }
}

/// The system refused what the client needs to begin.
package struct HTTPClientFault: Error, Sendable, Hashable, CustomStringConvertible {
    package let call: String
    package let code: Int32

    package var description: String { "\(call) failed with error \(code)" }
}

/// What must not reach a request line or a field.
enum HeadCheck {
    static func check(_ call: HTTPCall) throws(HTTPCallFailure) {
        let scheme = call.url.prefix { $0 != ":" }.lowercased()
        // Visible ASCII only: a blank or a control would end the request line.
        guard scheme == "http" || scheme == "https",
            call.url.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { throw .badURL }
        guard isToken(call.method) else { throw .badHead("the method") }
        for field in call.headers.fields {
            guard isToken(field.name) else { throw .badHead("a header's name") }
            // RFC 9110 §5.5: no control but the tab.
            guard field.value.utf8.allSatisfy({ $0 == 9 || $0 >= 0x20 && $0 != 0x7f }) else {
                throw .badHead(field.name)
            }
        }
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
