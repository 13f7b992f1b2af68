import Primitives

/// From a client's request to its place in a queue or in a worker's hands, and out again.
extension BrokerMachine {
    mutating func accept(
        _ input: BrokerInput, _ payload: PayloadHandle, from peer: RoutingID,
        _ caller: CallerNumber, _ now: SteadyTime
    ) {
        counters.requests += 1
        if let problem = admit(input, payload, peer, caller, now) {
            release(payload)
            answerFailure(
                problem, to: peer, input.dialect, service: input.service,
                requestID: input.hasHeader ? input.requestID : nil)
        }
    }

    /// nil when the request was taken or answered, else why not.
    private mutating func admit(
        _ input: BrokerInput, _ payload: PayloadHandle, _ peer: RoutingID,
        _ caller: CallerNumber, _ now: SteadyTime
    ) -> BusStatus? {
        guard let grant = grant(caller) else { return .notAllowed }
        if let body = input.managementBody {
            guard grant.mayCall(input.service) else { return .notAllowed }
            release(payload)
            answerManagement(input, body, to: peer, now)
            return nil
        }
        guard !isDraining else { return .overloaded }
        guard let service = serviceFor(input.service, grant, now) else {
            return grant.mayCall(input.service) ? .noSuchService : .notAllowed
        }
        guard mayCall(caller, service: service) else { return .notAllowed }
        guard input.timeLeftMilliseconds > 0 else { return .deadlinePassed }
        guard requestsInUse < limits.requestsMax,
            heldBytes + input.bodyBytes <= limits.heldBytesMax,
            let client = clientFor(peer, now),
            clients[Int(client)].inFlight < limits.inFlightPerClientMax
        else { return .overloaded }

        let index = takeSlot()
        fill(index, input, payload, client, service, caller, now)
        if services[Int(service)].queuedCount == 0, let worker = bestWorker(service) {
            dispatch(index, to: worker, now)
        } else if !enqueue(index, now) {
            freeSlot(index, keepsPayload: true)
            return .overloaded
        }
        return nil
    }

    private mutating func fill(
        _ index: Int32, _ input: BrokerInput, _ payload: PayloadHandle, _ client: Int32,
        _ service: Int32, _ caller: CallerNumber, _ now: SteadyTime
    ) {
        let slot = Int(index)
        requests[slot].dialect = input.dialect
        requests[slot].hasHeader = input.hasHeader
        requests[slot].attempt = 0
        requests[slot].hasPartial = false
        requests[slot].client = client
        requests[slot].service = service
        requests[slot].caller = Int32(truncatingIfNeeded: caller.rawValue)
        requests[slot].payload = payload
        requests[slot].bytes = Int32(clamping: input.bodyBytes)
        requests[slot].queuedAt = now
        requests[slot].requestID =
            input.hasHeader ? input.requestID : RequestID(high: random.next(), low: random.next())
        requests[slot].isDeadlineNamed = input.timeLeftMilliseconds != BusHeader.noDeadline
        requests[slot].deadline = now.advanced(
            microseconds: requests[slot].isDeadlineNamed
                ? min(Int64(input.timeLeftMilliseconds) * 1_000, requestMicrosecondsMax)
                : requestMicroseconds)
        heldBytes += input.bodyBytes
        clients[Int(client)].inFlight += 1
        services[Int(service)].usedAt = now
        services[Int(service)].heldCount += 1
    }

    // MARK: Slots

    private mutating func takeSlot() -> Int32 {
        requestsInUse += 1
        let index: Int32
        if let free = freeRequests.popLast() {
            index = free
        } else {
            index = Int32(requests.count)
            requests.append(RequestRecord())
            queueLinks.reserve(requests.count)
            handLinks.reserve(requests.count)
            wheel.reserve(requests.count)
        }
        requests[Int(index)].random =
            UInt32(truncatingIfNeeded: random.next())
            & AddressToken.partMask
        return index
    }

    /// Ends the slot's use; the client has its answer or needs none.
    mutating func freeSlot(_ index: Int32, keepsPayload: Bool = false) {
        let slot = Int(index)
        wheel.disarm(index)
        if requests[slot].payload != .none {
            heldBytes -= Int(requests[slot].bytes)
            if !keepsPayload { release(requests[slot].payload) }
            requests[slot].payload = .none
        }
        let client = requests[slot].client
        if client >= 0 { clients[Int(client)].inFlight -= 1 }
        services[Int(requests[slot].service)].heldCount -= 1
        requests[slot].client = -1
        requests[slot].state = .free
        requests[slot].generation = (requests[slot].generation + 1) & AddressToken.partMask
        freeRequests.append(index)
        requestsInUse -= 1
    }

    /// Answers the client with `status` and frees the slot, which is in no queue and no hand.
    mutating func fail(_ index: Int32, _ status: BusStatus) {
        tell(index, status)
        freeSlot(index)
    }

    private mutating func tell(_ index: Int32, _ status: BusStatus) {
        let request = requests[Int(index)]
        guard request.client >= 0 else { return }
        answerFailure(
            status, to: clients[Int(request.client)].routing, request.dialect,
            service: services[Int(request.service)].name,
            requestID: request.hasHeader ? request.requestID : nil)
    }

    // MARK: Clients and services

    private mutating func clientFor(_ peer: RoutingID, _ now: SteadyTime) -> Int32? {
        if let index = clientIndex[peer] {
            clients[Int(index)].seenAt = now
            return index
        }
        guard clientIndex.count < limits.clientsMax else { return nil }
        let record = ClientRecord(routing: peer, seenAt: now)
        let index: Int32
        if let free = freeClients.popLast() {
            index = free
            clients[Int(index)] = record
        } else {
            index = Int32(clients.count)
            clients.append(record)
        }
        clientIndex[peer] = index
        return index
    }

    /// nil for a name that may not be called, or when too many names without workers are known
    /// already.
    private mutating func serviceFor(
        _ name: String, _ grant: BrokerGrant, _ now: SteadyTime
    ) -> Int32? {
        if let index = serviceIndex[name] { return index }
        // Half of the names stay reserved for workers: typos of clients cannot lock a service out.
        guard serviceIndex.count < limits.servicesMax / 2, grant.mayCall(name) else { return nil }
        return makeService(name, now)
    }

    mutating func makeService(_ name: String, _ now: SteadyTime) -> Int32 {
        let record = ServiceRecord(name: name, emptySince: now, usedAt: now)
        let index: Int32
        if let free = freeServices.popLast() {
            index = free
            services[Int(index)] = record
        } else {
            index = Int32(services.count)
            services.append(record)
        }
        serviceIndex[name] = index
        return index
    }

    // MARK: Dispatch

    /// The worker of the service with the most free credit; ties take turns.
    func bestWorker(_ service: Int32) -> Int32? {
        let record = services[Int(service)]
        let count = record.workers.count
        var best: Int32?
        var bestFree = 0
        for step in 0..<count {
            let worker = record.workers[(record.cursor + step) % count]
            let free = workers[Int(worker)].freeCredit
            if free > bestFree {
                bestFree = free
                best = worker
            }
        }
        return best
    }

    mutating func dispatch(_ index: Int32, to worker: Int32, _ now: SteadyTime) {
        let slot = Int(index)
        let target = Int(worker)
        requests[slot].state = .dispatched
        requests[slot].attempt += 1
        requests[slot].worker = worker
        requests[slot].dispatchedAt = now
        handLinks.append(index, to: &workers[target].hand)
        workers[target].sentAt = now
        services[Int(requests[slot].service)].cursor &+= 1
        wheel.arm(index, at: requests[slot].deadline)

        let request = requests[slot]
        let keeps = workers[target].isRetrySafe && request.attempt < limits.attemptsMax
        var header: RequestHeader?
        if let capabilities = workers[target].capabilities {
            let left = (request.deadline.microseconds - now.microseconds) / 1_000
            let caller = CallerNumber(rawValue: Int(request.caller))
            header = RequestHeader(
                requestID: request.requestID,
                timeLeftMilliseconds: request.isDeadlineNamed
                    ? UInt32(clamping: max(left, 1)) : BusHeader.noDeadline,
                attempt: request.attempt,
                principal: capabilities.wantsPrincipal ? grant(caller)?.principal : nil)
        }
        actions.append(
            .request(
                to: workers[target].routing, workers[target].dialect,
                AddressToken(
                    slot: UInt32(index), generation: request.generation, random: request.random),
                header, request.payload, hasHeader: request.hasHeader, keeps: keeps))
        if !keeps {
            // The action gives the body away; the slot keeps nothing to repeat.
            actions.append(.release(request.payload))
            heldBytes -= Int(request.bytes)
            requests[slot].payload = .none
        }
    }

    /// Hands out what waits, while there is free credit.
    mutating func pump(_ service: Int32, _ now: SteadyTime) {
        while services[Int(service)].queuedCount > 0, let worker = bestWorker(service) {
            guard let index = nextQueued(service) else { return }
            unqueue(index)
            if requests[Int(index)].deadline <= now {
                fail(index, .deadlinePassed)
            } else {
                dispatch(index, to: worker, now)
            }
        }
    }

    // MARK: Time

    /// The wheel says that this request's time may have come.
    mutating func expire(_ index: Int32, _ now: SteadyTime) {
        let request = requests[Int(index)]
        switch request.state {
        case .free: break
        case .queued:
            let service = services[Int(request.service)]
            if request.deadline <= now {
                unqueue(index)
                fail(index, .deadlinePassed)
            } else if service.workers.isEmpty,
                max(request.queuedAt, service.emptySince) + limits.unknownServiceWait <= now
            {
                unqueue(index)
                fail(index, .noSuchService)
            } else {
                armQueued(index, now)
            }
        case .dispatched:
            tell(index, .deadlinePassed)
            overrun(index, now)
        case .overrun:
            let worker = request.worker
            handLinks.remove(index, from: &workers[Int(worker)].hand)
            freeSlot(index)
            pump(workers[Int(worker)].service, now)
        }
    }

    /// The worker keeps its credit taken until it answers; a plain one for as long as it lives.
    private mutating func overrun(_ index: Int32, _ now: SteadyTime) {
        let slot = Int(index)
        requests[slot].state = .overrun
        if requests[slot].payload != .none {
            release(requests[slot].payload)
            heldBytes -= Int(requests[slot].bytes)
            requests[slot].payload = .none
        }
        clients[Int(requests[slot].client)].inFlight -= 1
        requests[slot].client = -1
        let worker = workers[Int(requests[slot].worker)]
        if worker.capabilities != nil { wheel.arm(index, at: now + limits.overrunMax) }
    }
}
