import CMicroHTTP
import HTTPTypes

/// Gives an answer to the library.
struct AnswerWriter: Sendable {
    /// Bytes of one chunk of a stream; a larger piece goes out in several.
    private static let chunkBytesMax = 16 * 1024

    let watch: GoneWatch

    /// - Returns: false when it cannot be sent, so that the connection is closed.
    func send(_ response: HTTPResponse, of exchange: Exchange, isLast: Bool) -> Bool {
        guard let made = make(response, exchange) else { return false }
        for field in response.headers.fields {
            // A value with a line's end in it would be a fault of ours; better no answer than
            // half of one.
            guard fusion_http_response_add(made, field.name, field.value) != 0 else {
                fusion_http_response_drop(made)
                return false
            }
        }
        if isLast { _ = fusion_http_response_add(made, "Connection", "close") }
        return fusion_http_answer(exchange.pointer, UInt32(response.status), made) != 0
    }

    private func make(
        _ response: HTTPResponse, _ exchange: Exchange
    ) -> UnsafeMutableRawPointer? {
        switch response.body {
        case .bytes(let bytes): return fusion_http_response_bytes(bytes, bytes.count)
        case .stream:
            let source = Unmanaged.passRetained(StreamSource(exchange, watch)).toOpaque()
            let made = fusion_http_response_stream(
                readStream, source, dropStream, Self.chunkBytesMax)
            if made == nil { Unmanaged<StreamSource>.fromOpaque(source).release() }
            return made
        }
    }
}
