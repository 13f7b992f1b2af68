package import Bus
package import Messages
package import Primitives

/// A bus whose answers a test sets, request type by request type; an unset type fails loudly. It
/// records
/// what was asked, with which options.
package final class FakeBus: BusCaller {
    private struct Entry: Sendable {
        let answer: @Sendable (any BusRequest, CallOptions) async throws -> any Sendable
    }
    private let answers = Lock<[String: Entry]>([:])
    private let asked = Lock<[(request: any BusRequest, options: CallOptions)]>([])

    package init() {}

    package func on<Request: BusRequest>(
        _ type: Request.Type,
        _ answer:
            @escaping @Sendable (Request, CallOptions) async throws(ServiceFailure) ->
            Request.Reply
    ) {
        answers.withLock {
            $0[Request.method.name] = Entry { request, options in
                guard let request = request as? Request else {
                    throw ServiceFailure(.internalFault, "another type under this method")
                }
                return try await answer(request, options)
            }
        }
    }

    package func call<Request: BusRequest>(
        _ request: Request, _ options: CallOptions
    ) async throws(ServiceFailure) -> Request.Reply {
        asked.withLock { $0.append((request, options)) }
        guard let entry = answers.withLock({ $0[Request.method.name] }) else {
            throw ServiceFailure(.internalFault, "the test set no answer for \(Request.method)")
        }
        do {
            guard let reply = try await entry.answer(request, options) as? Request.Reply else {
                throw ServiceFailure(.internalFault, "another type of reply")
            }
            return reply
        } catch let failure as ServiceFailure {
            throw failure
        } catch {
            throw ServiceFailure(.internalFault, "\(error)")
        }
    }

    /// Requests of one type, in order.
    package func requests<Request: BusRequest>(_ type: Request.Type) -> [Request] {
        asked.withLock { $0.compactMap { $0.request as? Request } }
    }

    package func options<Request: BusRequest>(of type: Request.Type) -> [CallOptions] {
        asked.withLock { $0.filter { $0.request is Request }.map(\.options) }
    }
}
