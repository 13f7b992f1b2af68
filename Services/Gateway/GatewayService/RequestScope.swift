package import Bus
import HTTPTypes
package import Primitives

/// What the gateway knows of a request beside the request: who, under which ids.
package struct RequestScope: Sendable {
    /// An upper-case UUID, ours, for the caller's support cases and our logs; in every answer.
    package let requestID: String
    /// The caller's trace, or a new one; the span is ours.
    package let trace: TraceParent
    /// Where the request came from, behind the proxies that are trusted. nil when it cannot be read.
    package var clientAddress: ClientAddress? {
        clientAddressText.flatMap { ClientAddress($0) }
    }
    /// The text of that address; `ClientAddress.unknown` where a proxy's word cannot be read.
    package let clientAddressText: String?
    /// TLS here, or at a trusted proxy.
    package let isSecure: Bool
    /// The page that a browser sends for (RFC 6454 §7); nil without one, or with several.
    package let origin: String?
    /// The caller's own word for the request, `x-correlator` as it came; nil without one.
    package let correlator: String?
    /// Values of the path's names.
    package internal(set) var path: [String: String] = [:]

    package init(
        requestID: String, trace: TraceParent, clientAddressText: String? = nil,
        isSecure: Bool = false, origin: String? = nil, correlator: String? = nil
    ) {
        self.requestID = requestID
        self.trace = trace
        self.clientAddressText = clientAddressText
        self.isSecure = isSecure
        self.origin = origin
        self.correlator = correlator
    }

    /// For a call to the bus as part of this request.
    package func options(
        for caller: OnBehalfOf? = nil, requestKey: String? = nil, timeout: Duration? = nil
    ) -> CallOptions {
        CallOptions(
            requestKey: requestKey, timeout: timeout, onBehalfOf: caller, traceID: trace.traceID,
            spanID: trace.spanID)
    }
}

extension OnBehalfOf {
    /// The owner of an API key or an access token.
    package static func integrator(_ owner: String) -> OnBehalfOf {
        OnBehalfOf(role: "integrator", name: owner)
    }
}
