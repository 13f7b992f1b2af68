import HTTPTypes
import Primitives

/// Who may use the phone page. Nobody signs in there, so a request must come to this machine by one
/// of its own names (a page elsewhere may have its own name point here: DNS rebinding), and a call
/// must come from the page itself (another page could make the browser send it: CSRF).
struct PhonePageGuard: Sendable {
    /// Lower case, without port.
    private let hosts: Set<String>

    init(hosts: [String]) { self.hosts = Set(hosts.map { $0.lowercased() }) }

    /// - Throws: `not_allowed`, `invalid_parameters`.
    func judge(_ request: HTTPRequest, _ scope: RequestScope) throws(ServiceFailure) {
        let names = request.headers.values("host")
        guard names.count == 1, let name = names.first.flatMap(Self.host) else {
            throw ServiceFailure(.invalidParameters, "must be there once", field: "Host")
        }
        if hosts.contains(name) { return }
        guard Self.isLoopback(name) else { throw Self.foreign("this name") }
        // A stranger can write any name; an address of this machine he cannot have. Who comes through
        // a proxy of this machine has none either, unless the proxy is trusted and says so.
        guard scope.clientAddress?.isLoopback == true else { throw Self.foreign("other machines") }
    }

    /// A script of another origin cannot send JSON without asking first, and is never let in.
    func judgeCall(_ request: HTTPRequest, _ scope: RequestScope) throws(ServiceFailure) {
        try judge(request, scope)
        let host = (request.headers["host"] ?? "").lowercased()
        let origins = request.headers.values("origin")
        guard origins.allSatisfy({ ["http://\(host)", "https://\(host)"].contains($0) }),
            request.headers.values("sec-fetch-site").allSatisfy({ $0 == "same-origin" })
        else { throw ServiceFailure(.notAllowed, "only the page itself calls this") }
        try JSONMedia.judge(request.headers)
    }

    private static func foreign(_ whom: String) -> ServiceFailure {
        ServiceFailure(
            .notAllowed,
            "it answers on this machine as localhost, and not to \(whom); an operator may name "
                + "hosts in phonePageHosts of [gateway]")
    }

    /// `localhost:5572` and `[::1]:5572` without port, lower case; nil for what is no host.
    static func host(_ text: String) -> String? {
        let text = text.trimmedSpaces.lowercased()
        let end: String.Index?
        if text.hasPrefix("[") {
            end = text.firstIndex(of: "]").map { text.index(after: $0) }
        } else {
            end = text.firstIndex(of: ":") ?? text.endIndex
        }
        guard let end, end > text.startIndex else { return nil }
        let port = text[end...]
        let isPort =
            port.isEmpty
            || port.first == ":" && port.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isPort ? String(text[..<end]) : nil
    }

    /// `localhost` and names below it never leave the machine (RFC 6761 §6.3).
    static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let address = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        return ClientAddress(address)?.isLoopback ?? false
    }
}
