import CMicroHTTP

// Free functions: a closure written elsewhere might inherit an actor, and trap when C calls it.

/// The calls of one daemon; the reception must outlive it.
func receptionCalls(_ reception: Reception) -> fusion_http_calls {
    fusion_http_calls(
        owner: Unmanaged.passUnretained(reception).toOpaque(), opened: connectionOpened,
        closed: connectionClosed, began: requestBegan, proceed: requestProceeds,
        ended: requestEnded)
}

/// What a stream of the library reads from.
final class StreamSource {
    private let exchange: Exchange
    private let watch: GoneWatch

    init(_ exchange: Exchange, _ watch: GoneWatch) {
        self.exchange = exchange
        self.watch = watch
    }

    /// - Returns: how many bytes; 0 when the connection is suspended now.
    func read(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        switch exchange.readPiece(buffer) {
        case .bytes(let count): return count
        case .ended: return Int(fusion_http_end)
        case .aborted: return Int(fusion_http_broken)
        case .waits:
            watch.add(exchange)
            return 0
        }
    }
}

private func reception(_ owner: UnsafeMutableRawPointer?) -> Reception? {
    owner.map { Unmanaged<Reception>.fromOpaque($0).takeUnretainedValue() }
}

private func connectionOpened(
    _ owner: UnsafeMutableRawPointer?, _ connection: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    guard let reception = reception(owner), let connection else { return nil }
    return Unmanaged.passRetained(reception.opened(connection)).toOpaque()
}

private func connectionClosed(
    _ owner: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) {
    guard let reception = reception(owner), let context else { return }
    reception.closed(Unmanaged<Link>.fromOpaque(context).takeRetainedValue())
}

private func requestBegan(
    _ owner: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?,
    _ connection: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?
) -> UnsafeMutableRawPointer? {
    guard let reception = reception(owner), let context, let connection, let target else {
        return nil
    }
    let link = Unmanaged<Link>.fromOpaque(context).takeUnretainedValue()
    return Unmanaged.passRetained(reception.began(link, connection, target)).toOpaque()
}

private func requestProceeds(
    _ owner: UnsafeMutableRawPointer?, _ exchange: UnsafeMutableRawPointer?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
    _ bytes: UnsafePointer<UInt8>?, _ count: Int
) -> Int32 {
    guard let reception = reception(owner), let exchange, let method, let version else {
        return Int32(fusion_http_close)
    }
    let goesOn = reception.proceed(
        Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue(), method, version,
        UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    return Int32(goesOn ? fusion_http_go_on : fusion_http_close)
}

private func requestEnded(
    _ owner: UnsafeMutableRawPointer?, _ exchange: UnsafeMutableRawPointer?, _ isWhole: Int32
) {
    guard let reception = reception(owner), let exchange else { return }
    reception.ended(
        Unmanaged<Exchange>.fromOpaque(exchange).takeRetainedValue(), isWhole: isWhole != 0)
}

func readStream(
    _ source: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int
) -> Int {
    guard let source, let buffer else { return Int(fusion_http_broken) }
    return Unmanaged<StreamSource>.fromOpaque(source).takeUnretainedValue()
        .read(UnsafeMutableBufferPointer(start: buffer, count: capacity))
}

func dropStream(_ source: UnsafeMutableRawPointer?) {
    guard let source else { return }
    Unmanaged<StreamSource>.fromOpaque(source).release()
}
