import Primitives

/// Workers: registration, replies, heartbeats, loss. The table of states is RFC 18's, with one
/// change: a late reply of an idle worker is dropped and counted, and the worker stays.
extension BrokerMachine {
    mutating func receive(
        _ command: WorkerCommand, _ input: BrokerInput, _ payload: PayloadHandle,
        from peer: RoutingID, _ caller: CallerNumber, _ now: SteadyTime
    ) {
        guard let index = workerIndex[peer] else {
            release(payload)
            switch command {
            case .ready: register(input, peer, caller, now)
            case .disconnect, .request: break
            case .partial, .final, .heartbeat: sendDisconnect(peer, input.dialect)
            }
            return
        }
        let slot = Int(index)
        guard workers[slot].caller == caller, workers[slot].dialect == input.dialect,
            command != .ready
        else {
            release(payload)
            dismiss(index, now)
            return
        }
        workers[slot].heardAt = now
        switch command {
        case .partial, .final: takeReply(index, input, payload, isFinal: command == .final, now)
        case .heartbeat:
            release(payload)
            if let credit = input.capabilities?.credit, workers[slot].capabilities != nil {
                workers[slot].credit = credit
                // The echo tells a draining worker that no further request is on its way.
                grantWindow(index, now)
                pump(workers[slot].service, now)
            }
        case .disconnect:
            release(payload)
            counters.workersLeft += 1
            remove(index, now)
        case .ready, .request: release(payload)
        }
    }

    private mutating func register(
        _ input: BrokerInput, _ peer: RoutingID, _ caller: CallerNumber, _ now: SteadyTime
    ) {
        guard !input.isManagement, !isDraining, workerIndex.count < limits.workersMax,
            grant(caller)?.mayServe(input.service) == true,
            serviceIndex[input.service] != nil || serviceIndex.count < limits.servicesMax
        else {
            sendDisconnect(peer, input.dialect)
            return
        }
        let service = serviceIndex[input.service] ?? makeService(input.service, now)
        let record = WorkerRecord(
            routing: peer, dialect: input.dialect, caller: caller, service: service,
            capabilities: input.capabilities, credit: input.capabilities?.credit ?? 1,
            heardAt: now, sentAt: now, registeredAt: now)
        let index: Int32
        if let free = freeWorkers.popLast() {
            index = free
            workers[Int(index)] = record
        } else {
            index = Int32(workers.count)
            workers.append(record)
        }
        workerIndex[peer] = index
        services[Int(service)].workers.append(index)
        // At once, so that the worker knows that this broker understands credit.
        grantWindow(index, now)
        pump(service, now)
    }

    private mutating func grantWindow(_ index: Int32, _ now: SteadyTime) {
        let worker = workers[Int(index)]
        guard let capabilities = worker.capabilities else { return }
        workers[Int(index)].sentAt = now
        let grant = WorkerCapabilities.window(
            credit: worker.credit, heartbeatMilliseconds: capabilities.heartbeatMilliseconds)
        actions.append(.heartbeat(to: worker.routing, worker.dialect, grant: grant))
    }

    private mutating func takeReply(
        _ worker: Int32, _ input: BrokerInput, _ payload: PayloadHandle, isFinal: Bool,
        _ now: SteadyTime
    ) {
        guard let token = input.token, let index = live(token) else {
            counters.repliesLate += 1
            release(payload)
            return
        }
        let slot = Int(index)
        guard requests[slot].worker == worker else {
            counters.repliesForeign += 1
            release(payload)
            return
        }
        guard requests[slot].state == .dispatched else {
            counters.repliesLate += 1
            release(payload)
            if isFinal { giveBack(index, worker, now) }
            return
        }
        let request = requests[slot]
        let service = request.service
        let header = request.hasHeader ? ReplyHeader(requestID: request.requestID) : nil
        // A client of 0.1 knows one reply: it gets the final one, and no part before.
        if isFinal || !request.dialect.is01 {
            actions.append(
                .reply(
                    to: clients[Int(request.client)].routing, request.dialect,
                    service: services[Int(service)].name, header, payload,
                    hasHeader: input.hasHeader, isFinal: isFinal))
        }
        release(payload)
        if isFinal {
            counters.replies += 1
            let span = now.microseconds - request.dispatchedAt.microseconds
            workers[Int(worker)].statistics.count(status: input.status, microseconds: span)
            giveBack(index, worker, now)
        } else {
            counters.partials += 1
            requests[slot].hasPartial = true
        }
    }

    private mutating func giveBack(_ index: Int32, _ worker: Int32, _ now: SteadyTime) {
        handLinks.remove(index, from: &workers[Int(worker)].hand)
        freeSlot(index)
        let service = workers[Int(worker)].service
        if services[Int(service)].queuedCount > 0 { pump(service, now) }
    }

    /// The slot that `token` names, if it is in a worker's hands and the token is the current one.
    private func live(_ token: AddressToken) -> Int32? {
        guard token.slot < UInt32(requests.count) else { return nil }
        let request = requests[Int(token.slot)]
        guard request.state == .dispatched || request.state == .overrun,
            request.generation == token.generation, request.random == token.random
        else { return nil }
        return Int32(token.slot)
    }

    // MARK: The end of a worker

    mutating func sendDisconnect(_ peer: RoutingID, _ dialect: Dialect) {
        counters.disconnectsSent += 1
        actions.append(.disconnect(to: peer, dialect))
    }

    /// Sends it away: it may come back on a new connection.
    mutating func dismiss(_ index: Int32, _ now: SteadyTime) {
        let worker = workers[Int(index)]
        sendDisconnect(worker.routing, worker.dialect)
        remove(index, now)
    }

    /// Forgets the worker; what it had in hand goes back to the head of the queue, once, or fails.
    mutating func remove(_ index: Int32, _ now: SteadyTime) {
        let worker = workers[Int(index)]
        let service = worker.service
        workerIndex[worker.routing] = nil
        workers[Int(index)].isUsed = false
        services[Int(service)].workers.removeAll { $0 == index }
        if services[Int(service)].workers.isEmpty { services[Int(service)].emptySince = now }
        // From the last to the first: each goes to the head, so their order stays.
        while !workers[Int(index)].hand.isEmpty {
            let request = workers[Int(index)].hand.tail
            handLinks.remove(request, from: &workers[Int(index)].hand)
            giveUp(request, worker, now)
        }
        freeWorkers.append(index)
        pump(service, now)
    }

    private mutating func giveUp(_ index: Int32, _ worker: WorkerRecord, _ now: SteadyTime) {
        let request = requests[Int(index)]
        if request.state == .overrun {
            freeSlot(index)
        } else if request.deadline <= now {
            fail(index, .deadlinePassed)
        } else if request.payload != .none, worker.isRetrySafe, !request.hasPartial,
            request.attempt < limits.attemptsMax
        {
            requeue(index, now)
        } else {
            fail(index, .workerLost)
        }
    }

    // MARK: Time

    mutating func scanWorkers(_ now: SteadyTime) {
        for index in workers.indices where workers[index].isUsed {
            let worker = workers[index]
            var silence: Duration?
            let interval: Duration
            if let capabilities = worker.capabilities {
                interval = .milliseconds(capabilities.heartbeatMilliseconds)
                silence = interval * limits.silentIntervalsMax
            } else {
                interval = limits.plainHeartbeat
                // A busy plain worker reads and says nothing: only its request's time limits it.
                silence = worker.hand.isEmpty ? limits.plainSilence : nil
            }
            if let silence, now - worker.heardAt >= silence {
                counters.workersLost += 1
                dismiss(Int32(index), now)
            } else if now - worker.sentAt >= interval {
                workers[index].sentAt = now
                actions.append(.heartbeat(to: worker.routing, worker.dialect, grant: nil))
            }
        }
    }

    /// Forgets clients without requests and names without workers and requests.
    mutating func sweep(_ now: SteadyTime) {
        for index in clients.indices where clients[index].isUsed && clients[index].inFlight == 0 {
            guard now - clients[index].seenAt >= limits.clientIdle else { continue }
            clientIndex[clients[index].routing] = nil
            clients[index].isUsed = false
            freeClients.append(Int32(index))
        }
        for index in services.indices where services[index].isUsed {
            let service = services[index]
            guard service.workers.isEmpty, service.heldCount == 0,
                now - service.usedAt >= limits.serviceIdle
            else { continue }
            serviceIndex[service.name] = nil
            services[index].isUsed = false
            freeServices.append(Int32(index))
        }
    }
}

extension CallStatistics {
    mutating func count(status: UInt16, microseconds: Int64) {
        requests += 1
        processingMicroseconds += microseconds
        if status != 0 {
            errors += 1
            lastErrorStatus = status
        }
    }
}
