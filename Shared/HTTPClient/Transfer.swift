import CCurl
import HTTPTypes
import Primitives

/// One call on the thread: its curl handle, and what has come so far.
final class Transfer {
    let ticket: UInt64
    let handle: UnsafeMutableRawPointer
    /// Steady; curl itself does not time a transfer that waits for a connection.
    let endsAtMilliseconds: Int64
    private let answer: UnsafeContinuation<Result<HTTPAnswer, HTTPCallFailure>, Never>
    private let limits: HTTPClientLimits
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var head = HeadReader()
    private var body: [UInt8] = []
    /// Why this side broke it off.
    private var refusal: HTTPCallFailure?

    init(
        _ start: CallStart, on handle: UnsafeMutableRawPointer, limits: HTTPClientLimits,
        endsAtMilliseconds: Int64
    ) {
        ticket = start.ticket
        answer = start.answer
        self.handle = handle
        self.limits = limits
        self.endsAtMilliseconds = endsAtMilliseconds
    }

    deinit { curl_slist_free_all(fields) }

    func resume(_ outcome: Result<HTTPAnswer, HTTPCallFailure>) {
        answer.resume(returning: outcome)
    }

    // MARK: The request

    /// - Returns: false when curl has no memory for it, or a word of it is refused.
    func prepare(_ call: HTTPCall) -> Bool {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let milliseconds = max(1, call.timeout.wholeMilliseconds)
        return setNumbers([
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            (CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            (CURLOPT_TIMEOUT_MS, Int(clamping: milliseconds)),
            (CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: limits.connectTimeout.wholeMilliseconds)),
        ])
            && setTexts([
                (CURLOPT_URL, call.url), (CURLOPT_PROTOCOLS_STR, "http,https"),
                // What the environment says of proxies is no configuration of ours.
                (CURLOPT_PROXY, ""),
            ])
            && (limits.authoritiesFile.map { setTexts([(CURLOPT_CAINFO, $0)]) } ?? true)
            && setMethod(call) && setFields(call)
            && isSet(fusion_curl_set_writer(handle, CURLOPT_WRITEFUNCTION, takeBody))
            && isSet(fusion_curl_set_pointer(handle, CURLOPT_WRITEDATA, context))
            && isSet(fusion_curl_set_writer(handle, CURLOPT_HEADERFUNCTION, takeHead))
            && isSet(fusion_curl_set_pointer(handle, CURLOPT_HEADERDATA, context))
            && isSet(fusion_curl_set_pointer(handle, CURLOPT_PRIVATE, context))
    }

    private func setMethod(_ call: HTTPCall) -> Bool {
        guard !call.body.isEmpty || ["POST", "PUT", "PATCH"].contains(call.method) else {
            switch call.method {
            case "GET": return setNumbers([(CURLOPT_HTTPGET, 1)])
            case "HEAD": return setNumbers([(CURLOPT_NOBODY, 1)])
            default: return setTexts([(CURLOPT_CUSTOMREQUEST, call.method)])
            }
        }
        return setNumbers([(CURLOPT_POST, 1)])
            && isSet(
                fusion_curl_set_size(
                    handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(call.body.count)))
            && call.body.withUnsafeBytes { bytes in
                // An empty array may have no address, which curl would take as "read it from me".
                isSet(
                    bytes.isEmpty
                        ? fusion_curl_set_text(handle, CURLOPT_COPYPOSTFIELDS, "")
                        : fusion_curl_set_pointer(
                            handle, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress))
            }
            && (call.method == "POST" || setTexts([(CURLOPT_CUSTOMREQUEST, call.method)]))
    }

    private func setFields(_ call: HTTPCall) -> Bool {
        // curl would wait for "100 Continue", and call every body a form.
        var lines = ["Expect:"]
        if call.headers["content-type"] == nil { lines.append("Content-Type:") }
        // To curl, `Name:` takes a field away and `Name;` is one without value.
        for field in call.headers.fields {
            lines.append(
                field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        for line in lines {
            guard let longer = curl_slist_append(fields, line) else { return false }
            fields = longer
        }
        return isSet(fusion_curl_set_headers(handle, fields))
    }

    private func setNumbers(_ options: [(CURLoption, Int)]) -> Bool {
        options.allSatisfy { isSet(fusion_curl_set_number(handle, $0.0, $0.1)) }
    }

    private func setTexts(_ options: [(CURLoption, String)]) -> Bool {
        options.allSatisfy { isSet(fusion_curl_set_text(handle, $0.0, $0.1)) }
    }

    private func isSet(_ code: CURLcode) -> Bool { code == CURLE_OK }

    // MARK: The answer

    /// - Returns: false to break the transfer off.
    func addHead(_ line: UnsafeRawBufferPointer) -> Bool {
        guard head.add(line, isAfterBody: !body.isEmpty, bytesMax: limits.headBytesMax) else {
            refusal = .badAnswer
            return false
        }
        return true
    }

    func addBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= limits.bodyBytesMax else {
            refusal = .bodyTooLarge(bytesMax: limits.bodyBytesMax)
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    func outcome(_ code: CURLcode) -> Result<HTTPAnswer, HTTPCallFailure> {
        if let refusal { return .failure(refusal) }
        guard code == CURLE_OK else { return .failure(Self.failure(code)) }
        // curl takes a head that breaks off for a whole one.
        guard head.isWhole else { return .failure(.connectionLost) }
        return .success(
            HTTPAnswer(
                status: Int(fusion_curl_status(handle)), headers: HTTPHeaders(head.fields),
                body: body))
    }

    private static func failure(_ code: CURLcode) -> HTTPCallFailure {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: .badURL
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: .couldNotConnect
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
            .insecure
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE:
            .connectionLost
        // The scheme was looked at before: what is left is an answer without a status line.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
            .badAnswer
        default: .clientFault
        }
    }
}

/// Reads the lines of a head as curl hands them over, one by one.
struct HeadReader {
    private(set) var fields: [HTTPHeaders.Field] = []
    /// The empty line has come.
    private(set) var isWhole = false
    private var bytesCount = 0

    /// - Returns: false when the head is too long.
    mutating func add(
        _ line: UnsafeRawBufferPointer, isAfterBody: Bool, bytesMax: Int
    ) -> Bool {
        bytesCount += line.count
        guard bytesCount <= bytesMax else { return false }
        guard !isAfterBody else { return true }
        // A status line begins the head of the next answer: the one before was an interim one.
        if line.starts(with: "HTTP/".utf8) {
            fields = []
            isWhole = false
            return true
        }
        if line.allSatisfy({ $0 == 13 || $0 == 10 }) { isWhole = true }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let isBlank = { (byte: UInt8) in byte == 0x20 || (9...13).contains(byte) }
        var value = line[(colon + 1)...].drop(while: isBlank)
        while let last = value.last, isBlank(last) { value = value.dropLast() }
        fields.append(
            HTTPHeaders.Field(
                name: String(decoding: line[..<colon], as: UTF8.self),
                value: String(decoding: value, as: UTF8.self)))
        return true
    }
}

private func takeHead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer.addHead(line) ? size * count : breakOff
}

private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return breakOff }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer.addBody(part) ? size * count : breakOff
}

/// No count of bytes taken: curl ends the transfer with CURLE_WRITE_ERROR.
private let breakOff = -1
