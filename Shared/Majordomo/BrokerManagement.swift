import Primitives

/// The broker's own services (RFC 8) and what it says of itself: `mmi.service`, and with the field
/// names of NATS ADR-32 `mmi.ping`, `mmi.info`, `mmi.stats`, `mmi.health`. Every other `mmi.` name
/// answers 501.
///
/// A body chooses: empty for all, `name` for one service, `name@instance` for one worker.
extension BrokerMachine {
    mutating func answerManagement(
        _ input: BrokerInput, _ body: String, to peer: RoutingID, _ now: SteadyTime
    ) {
        let answer: [UInt8]
        switch input.service {
        case "mmi.service":
            let known = serviceIndex[body].map { !services[Int($0)].workers.isEmpty } ?? false
            answer = Array((known ? "200" : "404").utf8)
        case "mmi.ping": answer = list("ping_response", body, now) { _, _ in }
        case "mmi.info": answer = list("info_response", body, now, Self.writeInfo)
        case "mmi.stats": answer = stats(body, now)
        case "mmi.health": answer = health(body, now)
        default: answer = Array("501".utf8)
        }
        let header = input.hasHeader ? ReplyHeader(requestID: input.requestID, status: .ok) : nil
        actions.append(
            .answer(to: peer, input.dialect, service: input.service, header, body: answer))
    }

    private func list(
        _ type: String, _ filter: String, _ now: SteadyTime,
        _ more: (WorkerRecord, inout JSONText) -> Void
    ) -> [UInt8] {
        var json = JSONText()
        json.object { json in
            json.field("type", "fusionbus.micro.v1." + type)
            json.array("services") { json in
                for worker in matching(filter) {
                    json.object { json in
                        writeIdentity(worker, &json)
                        more(worker, &json)
                    }
                }
            }
        }
        return json.bytes
    }

    private func stats(_ filter: String, _ now: SteadyTime) -> [UInt8] {
        var json = JSONText()
        json.object { json in
            json.field("type", "fusionbus.micro.v1.stats_response")
            json.array("services") { json in
                for worker in matching(filter) {
                    json.object { json in
                        writeIdentity(worker, &json)
                        json.field(
                            "started_milliseconds_ago",
                            (now - worker.registeredAt).wholeMilliseconds)
                        json.array("endpoints") { writeStatistics(worker, &$0) }
                    }
                }
            }
            guard filter.isEmpty else { return }
            json.object("broker") { writeCounters(now, &$0) }
        }
        return json.bytes
    }

    private func health(_ filter: String, _ now: SteadyTime) -> [UInt8] {
        var json = JSONText()
        json.object { json in
            json.field("type", "fusionbus.micro.v1.health_response")
            json.field("state", isDraining ? "draining" : "serving")
            json.array("services") { json in
                for name in serviceIndex.keys.sorted() where filter.isEmpty || name == filter {
                    guard let index = serviceIndex[name] else { continue }
                    let service = services[Int(index)]
                    let crew = service.workers.map { workers[Int($0)] }
                    let credit = crew.reduce(0) { $0 + $1.credit }
                    json.object { json in
                        json.field("name", name)
                        json.field(
                            "state", crew.isEmpty ? "absent" : credit == 0 ? "draining" : "serving")
                        json.field("queued", Int64(service.queuedCount))
                        json.field("workers", Int64(crew.count))
                        json.field("credit", Int64(credit))
                        json.field("in_hand", crew.reduce(0) { $0 + Int64($1.hand.count) })
                    }
                }
            }
        }
        return json.bytes
    }

    /// Workers in the order of their service names, then of their registration.
    private func matching(_ filter: String) -> [WorkerRecord] {
        let at = filter.utf8.lastIndex(of: UInt8(ascii: "@"))
        var found: [WorkerRecord] = []
        for name in serviceIndex.keys.sorted() {
            guard let index = serviceIndex[name] else { continue }
            for worker in services[Int(index)].workers.map({ workers[Int($0)] }) {
                let isOne =
                    at.map {
                        name == filter[..<$0]
                            && worker.capabilities?.instanceID
                                == String(filter[filter.index(after: $0)...])
                    } ?? false
                if filter.isEmpty || name == filter || isOne { found.append(worker) }
            }
        }
        return found
    }

    private func writeIdentity(_ worker: WorkerRecord, _ json: inout JSONText) {
        json.field("name", services[Int(worker.service)].name)
        json.field("id", worker.capabilities?.instanceID ?? worker.routing.description)
        json.field("version", worker.capabilities?.version ?? "")
    }

    private static func writeInfo(_ worker: WorkerRecord, _ json: inout JSONText) {
        json.object("metadata") { json in
            json.field("protocol", worker.dialect.is01 ? "MDP/0.1" : "MDP/0.2")
            json.field("credit", Int64(worker.credit))
            json.field("retry", worker.isRetrySafe ? "safe" : "never")
        }
    }

    private func writeStatistics(_ worker: WorkerRecord, _ json: inout JSONText) {
        let statistics = worker.statistics
        let nanoseconds = statistics.processingMicroseconds * 1000
        json.object { json in
            json.field("subject", services[Int(worker.service)].name)
            json.field("num_requests", statistics.requests)
            json.field("num_errors", statistics.errors)
            json.field("last_error", statistics.errors == 0 ? "" : "\(statistics.lastErrorStatus)")
            json.field("processing_time", nanoseconds)
            json.field("average_processing_time", nanoseconds / max(statistics.requests, 1))
            json.field("in_hand", Int64(worker.hand.count))
        }
    }

    private func writeCounters(_ now: SteadyTime, _ json: inout JSONText) {
        json.field("started_milliseconds_ago", (now - startedAt).wholeMilliseconds)
        json.field("num_requests", counters.requests)
        json.field("num_replies", counters.replies)
        json.field("requests_in_flight", Int64(requestsInUse))
        json.field("held_bytes", Int64(heldBytes))
        json.field("clients", Int64(clientIndex.count))
        json.field("workers", Int64(workerIndex.count))
        json.field("requeued", counters.requeued)
        json.field("workers_lost", counters.workersLost)
        json.field("replies_late", counters.repliesLate)
        json.field("replies_foreign", counters.repliesForeign)
        json.field("failed_overloaded", counters.failedOverloaded)
        json.field("failed_deadline", counters.failedDeadline)
        json.field("failed_no_service", counters.failedNoService)
        json.field("failed_not_allowed", counters.failedNotAllowed)
        json.field("failed_worker_lost", counters.failedWorkerLost)
        json.object("malformed") { json in
            for (index, problem) in FrameProblem.allCases.enumerated() {
                json.field(problem.rawValue, counters.malformed[index])
            }
        }
    }
}
