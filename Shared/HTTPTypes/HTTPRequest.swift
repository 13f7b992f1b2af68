/// What is known of a request before its body has come.
package struct HTTPRequestHead: Sendable, Hashable {
    /// As sent, upper case by the standard.
    package let method: String
    /// As sent, without the query; begins with `/`. Not decoded.
    package let path: String
    /// As sent, without the `?`; nil where there was none.
    package let query: String?
    package let headers: HTTPHeaders
    /// The other end of the connection, an address without port: a proxy or the client.
    package let peerAddress: String
    /// The connection itself is TLS.
    package let isSecure: Bool

    package init(
        method: String, path: String, query: String? = nil, headers: HTTPHeaders = [:],
        peerAddress: String = "127.0.0.1", isSecure: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.peerAddress = peerAddress
        self.isSecure = isSecure
    }
}

/// A whole request.
package struct HTTPRequest: Sendable, Hashable {
    package let head: HTTPRequestHead
    package let body: [UInt8]

    package init(head: HTTPRequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }

    package var method: String { head.method }
    package var path: String { head.path }
    package var headers: HTTPHeaders { head.headers }

    /// The media type without parameters, lower case; nil without the field.
    package var mediaType: String? {
        headers["content-type"].map {
            String($0.prefix { $0 != ";" }).trimmedSpaces.lowercased()
        }
    }
}

extension String {
    /// Without spaces and tabs at either end (OWS, RFC 9110 §5.6.3).
    package var trimmedSpaces: String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = self[...]
        while let first = text.first, isSpace(first) { text.removeFirst() }
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}
