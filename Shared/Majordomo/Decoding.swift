package import Primitives

/// The frames of one message, without the routing id. They are valid only during the call that
/// gets them.
package typealias FrameViews = UnsafeBufferPointer<UnsafeRawBufferPointer>

/// Why a message was dropped. Each is counted under its name.
package enum FrameProblem: String, Sendable, Hashable, CaseIterable {
    case tooManyFrames = "too_many_frames"
    case tooFewFrames = "too_few_frames"
    case unknownProtocol = "unknown_protocol"
    case unknownCommand = "unknown_command"
    case badServiceName = "bad_service_name"
    case badAddress = "bad_address"
}

/// One message as a broker understands it.
package struct BrokerInput: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case clientRequest
        case worker(WorkerCommand)
        case malformed(FrameProblem)
    }

    package var kind: Kind
    package var dialect = Dialect.v02
    /// Set for client requests and READY.
    package var service = ""
    /// Set for partial and final replies.
    package var token: AddressToken?
    package var hasHeader = false
    package var requestID = RequestID(high: 0, low: 0)
    /// Set when there is a header.
    package var timeLeftMilliseconds = BusHeader.noDeadline
    /// The status in a reply's header; 0 without one.
    package var status: UInt16 = 0
    /// READY's or HEARTBEAT's extension; nil for plain peers.
    package var capabilities: WorkerCapabilities?
    /// Whether the name begins with `mmi.`, which the broker answers itself (RFC 8).
    package var isManagement = false
    /// Set for a client's `mmi.` request: the first frame of its body.
    package var managementBody: String?
    /// Where header and body begin, and how many bytes they have.
    package var bodyStart = 0
    package var bodyBytes = 0

    package init(kind: Kind) { self.kind = kind }

    /// Never fails and never stops: what is no message is `malformed`.
    package init(_ views: FrameViews) {
        self.init(kind: .malformed(.tooFewFrames))
        guard views.count <= Wire.framesMax else {
            kind = .malformed(.tooManyFrames)
            return
        }
        guard let first = views.first else { return }
        var index = 0
        if first.isEmpty { index = 1 }
        guard index < views.count else { return }
        dialect = Dialect(views[index], isDelimited: index == 1)
        switch PeerKind(views[index], dialect) {
        case .client: readClient(views, from: index + 1)
        case .worker: readWorker(views, from: index + 1)
        case nil: kind = .malformed(.unknownProtocol)
        }
    }

    private mutating func readClient(_ views: FrameViews, from start: Int) {
        var index = start
        if !dialect.is01 {
            guard index < views.count else { return }
            guard views[index].count == 1, views[index].first == Wire.clientRequest02 else {
                kind = .malformed(.unknownCommand)
                return
            }
            index += 1
        }
        guard index < views.count else { return }
        guard let name = serviceName(views[index]) else {
            kind = .malformed(.badServiceName)
            return
        }
        service = name
        kind = .clientRequest
        isManagement = Self.isManagement(views[index])
        readBody(views, from: index + 1)
        guard isManagement else { return }
        let body = hasHeader ? bodyStart + 1 : bodyStart
        let bytes = body < views.count ? Array(views[body].prefix(Self.managementBodyBytesMax)) : []
        managementBody = String(decoding: bytes, as: UTF8.self)
    }

    private static let managementBodyBytesMax = 512

    private static func isManagement(_ name: UnsafeRawBufferPointer) -> Bool {
        name.count >= 4 && name.loadBigEndian32(at: 0) == 0x6d6d_692e
    }

    private mutating func readWorker(_ views: FrameViews, from start: Int) {
        guard start < views.count else { return }
        guard views[start].count == 1, let byte = views[start].first,
            let command = WorkerCommand(byte: byte, dialect), command != .request
        else {
            kind = .malformed(.unknownCommand)
            return
        }
        let next = start + 1
        switch command {
        case .ready:
            guard next < views.count else { return }
            guard let name = serviceName(views[next]) else {
                kind = .malformed(.badServiceName)
                return
            }
            service = name
            isManagement = Self.isManagement(views[next])
            readExtension(views, at: next + 1)
        case .partial, .final:
            guard next < views.count else { return }
            guard let address = AddressToken(views[next]) else {
                kind = .malformed(.badAddress)
                return
            }
            token = address
            // One known port leaves out the empty frame after the address; then the body begins
            // here.
            let hasDelimiter = next + 1 < views.count && views[next + 1].isEmpty
            readBody(views, from: hasDelimiter ? next + 2 : next + 1)
        case .heartbeat: readExtension(views, at: next)
        case .disconnect, .request: break
        }
        kind = .worker(command)
    }

    private mutating func readExtension(_ views: FrameViews, at index: Int) {
        guard index < views.count else { return }
        let read = WorkerCapabilities(views[index])
        if read.credit != nil { capabilities = read }
    }

    private mutating func readBody(_ views: FrameViews, from start: Int) {
        bodyStart = start
        guard start < views.count else { return }
        for index in start..<views.count { bodyBytes += views[index].count }
        let first = views[start]
        guard RawHeader.isHeader(first) else { return }
        hasHeader = true
        requestID = RawHeader.requestID(first)
        timeLeftMilliseconds = RawHeader.timeLeftMilliseconds(first)
        status = RawHeader.status(first)
    }
}

extension Dialect {
    /// By the empty frame in front and the last digit of the protocol frame; what is neither
    /// version reads as
    /// one of them and is refused by `PeerKind`.
    fileprivate init(_ frame: UnsafeRawBufferPointer, isDelimited: Bool) {
        let is02 = frame.count == Wire.protocolBytes && frame[5] == UInt8(ascii: "2")
        self = isDelimited ? (is02 ? .v02Delimited : .v01) : .v02
    }
}

enum PeerKind {
    case client
    case worker

    init?(_ frame: UnsafeRawBufferPointer, _ dialect: Dialect) {
        guard frame.count == Wire.protocolBytes else { return nil }
        let digit = dialect.is01 ? UInt8(ascii: "1") : UInt8(ascii: "2")
        guard frame[4] == UInt8(ascii: "0"), frame[5] == digit else { return nil }
        switch frame.loadBigEndian32(at: 0) {
        case 0x4d44_5043: self = .client
        case 0x4d44_5057: self = .worker
        default: return nil
        }
    }
}

/// Printable ASCII, at most 255 bytes; nil for anything else.
package func serviceName(_ frame: UnsafeRawBufferPointer) -> String? {
    guard !frame.isEmpty, frame.count <= Wire.serviceNameBytesMax else { return nil }
    for byte in frame where byte < 0x20 || byte > 0x7e { return nil }
    return String(decoding: frame, as: UTF8.self)
}

/// Lends `frames` as views, for shells that hold arrays.
package func withFrameViews<Result>(_ frames: [[UInt8]], _ body: (FrameViews) -> Result) -> Result {
    let flat = frames.flatMap { $0 }
    return flat.withUnsafeBytes { bytes in
        var views: [UnsafeRawBufferPointer] = []
        var offset = 0
        for frame in frames {
            views.append(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + frame.count]))
            offset += frame.count
        }
        return views.withUnsafeBufferPointer(body)
    }
}

/// One message as a worker understands it, from a broker of the dialect it speaks.
package enum WorkerInput: Sendable, Hashable {
    /// The address is whatever the broker sent, to be returned untouched.
    case request(address: [UInt8], header: BusHeader?, bodyStart: Int)
    case heartbeat(WorkerCapabilities?)
    case disconnect
    case malformed

    package static let addressBytesMax = 255

    package init(_ views: FrameViews, _ dialect: Dialect) {
        self = .malformed
        let start = dialect.isDelimited ? 1 : 0
        if dialect.isDelimited, views.first?.isEmpty != true { return }
        guard start + 1 < views.count, views.count <= Wire.framesMax,
            PeerKind(views[start], dialect) == .worker, views[start + 1].count == 1,
            let byte = views[start + 1].first, let command = WorkerCommand(byte: byte, dialect)
        else { return }
        let next = start + 2
        switch command {
        case .request:
            guard next < views.count, views[next].count <= Self.addressBytesMax else { return }
            var bodyStart = next + 1
            if bodyStart < views.count, views[bodyStart].isEmpty { bodyStart += 1 }
            var header: BusHeader?
            if bodyStart < views.count, RawHeader.isHeader(views[bodyStart]) {
                header = BusHeader(views[bodyStart])
                bodyStart += 1
            }
            self = .request(address: Array(views[next]), header: header, bodyStart: bodyStart)
        case .heartbeat:
            let granted = next < views.count ? WorkerCapabilities(views[next]) : nil
            self = .heartbeat(granted?.credit == nil ? nil : granted)
        case .disconnect: self = .disconnect
        case .ready, .partial, .final: return
        }
    }
}

/// One message as a client understands it.
package struct ClientInput: Sendable, Hashable {
    package let isFinal: Bool
    /// nil when the reply has no header.
    package let requestID: RequestID?
    package let status: UInt16
    package let retryAfterMilliseconds: UInt32
    package let bodyStart: Int

    package init?(_ views: FrameViews, _ dialect: Dialect) {
        let start = dialect.isDelimited ? 1 : 0
        if dialect.isDelimited, views.first?.isEmpty != true { return nil }
        guard start < views.count, views.count <= Wire.framesMax,
            PeerKind(views[start], dialect) == .client
        else { return nil }
        var index = start + 1
        if !dialect.is01 {
            guard index < views.count, views[index].count == 1 else { return nil }
            switch views[index].first {
            case Wire.clientPartial02: isFinal = false
            case Wire.clientFinal02: isFinal = true
            default: return nil
            }
            index += 1
        } else {
            isFinal = true
        }
        guard index < views.count else { return nil }
        index += 1
        if index < views.count, RawHeader.isHeader(views[index]) {
            requestID = RawHeader.requestID(views[index])
            status = RawHeader.status(views[index])
            retryAfterMilliseconds = RawHeader.retryAfterMilliseconds(views[index])
            index += 1
        } else {
            requestID = nil
            status = 0
            retryAfterMilliseconds = 0
        }
        bodyStart = index
    }
}
