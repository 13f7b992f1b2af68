import CMicroHTTP
import HTTPTypes
import Primitives

/// What the library's callbacks do. They run on its few threads, which nothing here may hold up; what
/// concerns one connection runs on one of them.
final class Reception: Sendable {
    /// More fields than any client sends; a head with more is refused.
    private static let fieldsMax = 128

    private struct Hand {
        /// From the head of a request to the end of its answer.
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        /// Those of them whose request is whole.
        var wholeCount = 0
        var tally = Tally()
        var isDraining = false
        /// What comes now is refused.
        var isOver = false
        var whenEmpty: CheckedContinuation<Void, Never>?
        /// Nobody need begin to wait any more.
        var isWaitOver = false
    }

    let links = LinkTable()
    private let settings: HTTPServerSettings
    private let handler: any HTTPHandler
    private let writer: AnswerWriter
    private let watch: GoneWatch
    private let hand = Lock(Hand())

    init(_ settings: HTTPServerSettings, _ handler: any HTTPHandler, _ watch: GoneWatch) {
        self.settings = settings
        self.handler = handler
        self.watch = watch
        writer = AnswerWriter(watch: watch)
    }

    // MARK: Connections

    func opened(_ connection: UnsafeMutableRawPointer) -> Link {
        let link = Link(connection: connection, deadline: coarseNow() + settings.transferMax)
        links.add(link, perAddressMax: settings.connectionsPerAddressMax)
        return link
    }

    func closed(_ link: Link) { links.remove(link) }

    func began(
        _ link: Link, _ connection: UnsafeMutableRawPointer, _ target: UnsafePointer<CChar>
    ) -> Exchange {
        link.expect(by: coarseNow() + settings.transferMax)
        return Exchange(link: link, connection: connection, target: target)
    }

    // MARK: Requests

    /// - Returns: false to close the connection.
    func proceed(
        _ exchange: Exchange, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>,
        _ bytes: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard !exchange.link.isRefused else { return false }
        if exchange.hasStarted { return goOn(exchange) }
        guard let head = exchange.head else { return takeHead(exchange, method, version) }
        guard bytes.isEmpty else {
            // Only a chunked body can come here: a counted one was refused by its head.
            guard bytes.count <= exchange.bodyBytesMax - exchange.body.count else { return false }
            exchange.body.append(contentsOf: bytes)
            return true
        }
        guard takePlace(exchange) else { return refuse(exchange, .unavailable, head) }
        exchange.hasStarted = true
        exchange.link.expect(by: nil)
        let request = HTTPRequest(head: head, body: exchange.body)
        exchange.body = []
        let handler = handler
        // Begins here and now: what is answered from memory costs no change of threads.
        exchange.hold(Task.immediate { await exchange.run(handler, request) })
        return goOn(exchange)
    }

    /// Only now: a body that comes slowly keeps no other request out.
    private func takePlace(_ exchange: Exchange) -> Bool {
        exchange.hasPlace = hand.withLock { hand in
            guard !hand.isOver, hand.wholeCount < settings.requestsMax else { return false }
            hand.wholeCount += 1
            hand.tally.requestsBegun += 1
            return true
        }
        return exchange.hasPlace
    }

    private func goOn(_ exchange: Exchange) -> Bool {
        switch exchange.find() {
        case .waits: return true
        case .aborted: return false
        case .answer(let response): return answer(exchange, response)
        }
    }

    private func answer(_ exchange: Exchange, _ response: HTTPResponse) -> Bool {
        let isStream = response.bytes == nil
        exchange.link.expect(by: isStream ? nil : coarseNow() + settings.transferMax)
        exchange.sendsStream = isStream
        let isLast = hand.withLock { hand in
            if isStream { hand.tally.streamsBegun += 1 }
            return exchange.isLast || hand.isDraining
        }
        return writer.send(response, of: exchange, isLast: isLast)
    }

    func ended(_ exchange: Exchange, isWhole: Bool) {
        exchange.end(isWhole: isWhole)
        watch.remove(exchange)
        exchange.link.expect(
            by: coarseNow() + .seconds(settings.idleSeconds) + settings.transferMax)
        let waiter = hand.withLock { hand in
            hand.exchanges[ObjectIdentifier(exchange)] = nil
            if exchange.hasPlace {
                hand.wholeCount -= 1
                hand.tally.requestsEnded += 1
            }
            if exchange.sendsStream { hand.tally.streamsEnded += 1 }
            guard hand.exchanges.isEmpty else { return nil as CheckedContinuation<Void, Never>? }
            defer { hand.whenEmpty = nil }
            return hand.whenEmpty
        }
        waiter?.resume()
    }

    // MARK: Heads

    private func takeHead(
        _ exchange: Exchange, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>
    ) -> Bool {
        let verdict = judge(exchange, method, version)
        exchange.head = verdict.head
        switch verdict.framing {
        case .refused: return refuse(exchange, .badFraming, verdict.head)
        case .serverOptions: return serverOptions(exchange)
        case .counted, .chunked: break
        }
        let isOpen = hand.withLock { hand in
            guard !hand.isOver else { return false }
            hand.exchanges[ObjectIdentifier(exchange)] = exchange
            return true
        }
        guard isOpen else { return refuse(exchange, .unavailable, verdict.head) }
        exchange.bodyBytesMax = handler.bodyBytesMax(verdict.head)
        if case .counted(let count) = verdict.framing {
            guard count <= exchange.bodyBytesMax else {
                let refusal = HTTPRefusal.bodyTooLarge(bytesMax: exchange.bodyBytesMax)
                return refuse(exchange, refusal, verdict.head)
            }
            exchange.body.reserveCapacity(count)
        } else {
            // The library reads chunks more laxly than RFC 9112 §7.1 (a bare LF ends a line), so
            // nothing that follows one on its connection is believed.
            exchange.isLast = true
        }
        return true
    }

    private func judge(
        _ exchange: Exchange, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>
    ) -> HeadRules.Verdict {
        let isSecure = settings.identity != nil
        let address = exchange.link.peerAddress
        return withUnsafeTemporaryAllocation(
            of: fusion_http_field.self, capacity: Self.fieldsMax
        ) { buffer in
            let count = fusion_http_fields(exchange.pointer, buffer.baseAddress, buffer.count)
            guard count <= buffer.count else { return HeadRules.refused(address, isSecure) }
            let fields = UnsafeBufferPointer(rebasing: buffer[..<count])
            let isExact = HeadLayout.isExact(
                method: method, target: (exchange.targetAddress, exchange.target.count),
                version: version, fields: fields,
                headCount: fusion_http_head_count(exchange.pointer))
            guard isExact else { return HeadRules.refused(address, isSecure) }
            let line = HeadRules.Line(
                method: Self.bytes(method), target: exchange.target, version: Self.bytes(version))
            return HeadRules.judge(
                line,
                fields.map { field in
                    HeadRules.Field(
                        name: Array(
                            UnsafeBufferPointer(start: field.name, count: field.name_count)),
                        value: Array(
                            UnsafeBufferPointer(start: field.value, count: field.value_count)))
                }, peerAddress: address, isSecure: isSecure)
        }
    }

    private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        text.withMemoryRebound(to: UInt8.self, capacity: 1) { bytes in
            var count = 0
            while bytes[count] != 0 { count += 1 }
            return Array(UnsafeBufferPointer(start: bytes, count: count))
        }
    }

    /// An answer before the body ends the connection: the library reads no further.
    private func refuse(
        _ exchange: Exchange, _ refusal: HTTPRefusal, _ head: HTTPRequestHead
    ) -> Bool {
        exchange.isLast = true
        return answer(exchange, handler.refuse(refusal, head))
    }

    private func serverOptions(_ exchange: Exchange) -> Bool {
        exchange.isLast = true
        return answer(exchange, HTTPResponse(status: 204))
    }

    // MARK: End

    /// From now on every answer is the last of its connection, and streams end.
    func drain() {
        let exchanges = hand.withLock { hand in
            hand.isDraining = true
            return Array(hand.exchanges.values)
        }
        for exchange in exchanges { exchange.endStream() }
    }

    func beginWaiting() { hand.withLock { $0.isWaitOver = false } }

    /// Returns once nothing is in hand, or waiting was stopped, before or after it began. Called by
    /// one task at a time.
    func waitUntilEmpty() async {
        await withCheckedContinuation { continuation in
            let isOver = hand.withLock { hand in
                if hand.isWaitOver || hand.exchanges.isEmpty { return true }
                hand.whenEmpty = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    func stopWaiting() {
        let waiter = hand.withLock { hand in
            hand.isWaitOver = true
            defer { hand.whenEmpty = nil }
            return hand.whenEmpty
        }
        waiter?.resume()
    }

    func refuseNew() { hand.withLock { $0.isOver = true } }

    /// Closes every connection that still waits, so that the library can be stopped.
    func giveUp() {
        let exchanges = hand.withLock { Array($0.exchanges.values) }
        for exchange in exchanges { exchange.abort() }
    }

    var inHandCount: Int { hand.withLock { $0.exchanges.count } }
    /// Since the server began.
    var tally: Tally { links.counted(into: hand.withLock { $0.tally }) }
    var isDraining: Bool { hand.withLock { $0.isDraining } }
}
