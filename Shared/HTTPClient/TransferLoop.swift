import CCurl
import CLinuxCalls
import Glibc
import HTTPTypes
import Primitives

/// Owns curl's multi handle and every connection; made, used and dropped on its own thread.
///
/// curl says which sockets it waits for, epoll tells which are ready: a wake-up costs what is ready, not
/// what is open.
final class TransferLoop {
    private let mailbox: TransferMailbox
    private let limits: HTTPClientLimits
    private let multi: UnsafeMutableRawPointer
    private let epoll: Int32
    private var transfers: [UInt64: Transfer] = [:]
    /// Handles that wait for the next call.
    private var spareHandles: [UnsafeMutableRawPointer] = []
    private var spareCommands: [TransferCommand] = []
    private var isClosed = false
    /// When curl wants to be called though nothing is ready; steady milliseconds.
    private var timerAt: Int64?
    private var lookAt: Int64 = 0

    /// How late a call that waits for a connection may learn that its time is over.
    private static let lookMilliseconds: Int64 = 50
    private static let eventsMax = 64
    private static let spareHandlesMax = 256
    private static let isCurlReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// nil when the system or curl has no room.
    init?(_ mailbox: TransferMailbox, _ limits: HTTPClientLimits) {
        guard Self.isCurlReady, let multi = curl_multi_init() else { return nil }
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.fd = mailbox.descriptor
        guard epoll >= 0, epoll_ctl(epoll, EPOLL_CTL_ADD, mailbox.descriptor, &event) == 0 else {
            curl_multi_cleanup(multi)
            close(epoll)
            return nil
        }
        self.mailbox = mailbox
        self.limits = limits
        self.multi = multi
        self.epoll = epoll
        let context = Unmanaged.passUnretained(self).toOpaque()
        fusion_curl_on_socket(multi, watchSocket, context)
        fusion_curl_on_timer(multi, armTimer, context)
        fusion_curl_limit(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limits.connectionsMax)
        fusion_curl_limit(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limits.connectionsPerHostMax)
        fusion_curl_limit(multi, CURLMOPT_MAXCONNECTS, limits.connectionsMax)
    }

    deinit {
        for handle in spareHandles { curl_easy_cleanup(handle) }
        curl_multi_cleanup(multi)
        close(epoll)
    }

    /// Until `close` is posted; calls under way then end as cancelled.
    func run() {
        var events = [epoll_event](repeating: epoll_event(), count: Self.eventsMax)
        while true {
            takeCommands()
            guard !isClosed else { break }
            let now = Self.now()
            if let timerAt, timerAt <= now {
                self.timerAt = nil
                act(on: CURL_SOCKET_TIMEOUT, 0)
            }
            finishDone()
            if lookAt <= now { lookAtDeadlines(now) }
            let count = epoll_wait(epoll, &events, Int32(Self.eventsMax), sleepMilliseconds())
            for event in events.prefix(max(0, Int(count)))
            where event.data.fd != mailbox.descriptor {
                act(on: event.data.fd, Self.bits(event.events))
            }
        }
        for transfer in transfers.values.sorted(by: { $0.ticket < $1.ticket }) {
            end(transfer, .failure(.cancelled))
        }
    }

    // MARK: Calls

    private func takeCommands() {
        mailbox.take(&spareCommands)
        for command in spareCommands {
            switch command {
            case .start(let start): begin(start)
            case .cancel(let ticket):
                if let transfer = transfers[ticket] { end(transfer, .failure(.cancelled)) }
            case .close: isClosed = true
            }
        }
        spareCommands.removeAll(keepingCapacity: true)
    }

    private func begin(_ start: CallStart) {
        guard let handle = spareHandles.popLast() ?? curl_easy_init() else {
            mailbox.giveBackTicket()
            start.answer.resume(returning: .failure(.clientFault))
            return
        }
        let transfer = Transfer(
            start, on: handle, limits: limits,
            endsAtMilliseconds: Self.now() + start.call.timeout.wholeMilliseconds)
        transfers[start.ticket] = transfer
        guard transfer.prepare(start.call), curl_multi_add_handle(multi, handle) == CURLM_OK
        else { return end(transfer, .failure(.clientFault)) }
    }

    private func finishDone() {
        var result = CURLE_OK
        while let handle = fusion_curl_next_done(multi, &result) {
            guard let context = fusion_curl_private(handle) else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            end(transfer, transfer.outcome(result))
        }
    }

    private func lookAtDeadlines(_ now: Int64) {
        lookAt = now + Self.lookMilliseconds
        let late = transfers.values.filter { $0.endsAtMilliseconds < now }
        for transfer in late.sorted(by: { $0.ticket < $1.ticket }) {
            end(transfer, .failure(.timedOut))
        }
    }

    private func end(_ transfer: Transfer, _ outcome: Result<HTTPAnswer, HTTPCallFailure>) {
        curl_multi_remove_handle(multi, transfer.handle)
        if spareHandles.count < Self.spareHandlesMax {
            curl_easy_reset(transfer.handle)
            spareHandles.append(transfer.handle)
        } else {
            curl_easy_cleanup(transfer.handle)
        }
        transfers[transfer.ticket] = nil
        mailbox.giveBackTicket()
        transfer.resume(outcome)
    }

    // MARK: Sockets and time

    private func act(on socket: Int32, _ bits: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, bits, &running)
    }

    fileprivate func watch(_ socket: Int32, _ what: Int32) {
        var event = epoll_event()
        event.data.fd = socket
        switch what {
        case CURL_POLL_IN: event.events = EPOLLIN.rawValue
        case CURL_POLL_OUT: event.events = EPOLLOUT.rawValue
        case CURL_POLL_INOUT: event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue
        default:
            epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &event)
            return
        }
        if epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) != 0, errno == ENOENT {
            epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event)
        }
    }

    fileprivate func setTimer(_ milliseconds: Int) {
        // Never early: curl does not ask again for an instant that it has asked for.
        let rounding: Int64 = milliseconds > 0 ? 1 : 0
        timerAt = milliseconds < 0 ? nil : Self.now() + Int64(milliseconds) + rounding
    }

    private func sleepMilliseconds() -> Int32 {
        let now = Self.now()
        var until = timerAt
        if !transfers.isEmpty { until = min(until ?? lookAt, lookAt) }
        guard let until else { return -1 }
        return Int32(clamping: max(0, until - now))
    }

    private static func bits(_ events: UInt32) -> Int32 {
        var bits: Int32 = 0
        if events & EPOLLIN.rawValue != 0 { bits |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { bits |= CURL_CSELECT_OUT }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { bits |= CURL_CSELECT_ERR }
        return bits
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

private func watchSocket(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32,
    _ context: UnsafeMutableRawPointer?, _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<TransferLoop>.fromOpaque(context).takeUnretainedValue().watch(socket, what)
    return 0
}

private func armTimer(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<TransferLoop>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
    return 0
}
