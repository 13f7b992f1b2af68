import Bus
import Effects
import Messages
import Primitives
import Storage

extension SceneService {
    /// Bytes of a run key.
    static let runKeyBytes = 32
    static let addressHourSeconds: Int64 = 3_600

    func start(
        _ request: StartScene, _ context: CallContext
    ) async throws(ServiceFailure) -> SceneView {
        guard request.address == nil || context.peer.roles.contains(.gateway) else {
            throw SceneFailure.addressNotAllowed
        }
        let now = clock.now()
        let permit = try await gate.admit(request.authToken, context)
        let scheme = try await schemes.usable(permit.schemeCode, context)
        let capabilities = request.capabilities ?? ClientCapabilities()
        let map = SceneMap(
            scheme: scheme, templateId: request.templateId, capabilities: capabilities)
        guard let map else { throw SceneFailure.templateNotFound }
        let runKey = Base64URL.encode(random.bytes(Self.runKeyBytes))
        let facts = RunFacts(
            runId: random.identifier(), templateId: request.templateId,
            schemeCode: scheme.schemeCode, schemeVersion: scheme.version, owner: scheme.owner,
            platform: permit.platform, app: permit.app, capabilities: capabilities,
            locale: request.locale, deviceScore: await deviceScore(request, scheme),
            keyDigest: runKeys.digest(runKey))
        let numbers = RunNumbers(
            bound: permit.boundNumber, device: request.deviceId, address: request.address)
        let key = try context.answerKey(for: request, scope: "token:\(permit.tokenId)")
        let view = try await walking(facts.runId, context) {
            tools, prepared throws(ServiceFailure) in
            try await answers.once(key) { rows throws(ServiceFailure) in
                tools.trace.reset()
                try countStart(request.address, tools, at: now, &rows)
                var desk = SceneDesk(
                    new: facts, numbers, map: map, tools: tools, prepared: prepared, at: now)
                try desk.begin(&rows)
                desk.save(&rows)
                return desk.view(runKey: Secret(runKey))
            }
        }
        if view.runId == facts.runId { known.remember(facts) }
        return view
    }

    private func deviceScore(_ request: StartScene, _ scheme: Scheme) async -> Int? {
        guard let device = request.deviceId, scorer.isOn else { return nil }
        return await scorer.score(
            deviceId: device, schemeCode: scheme.schemeCode, address: request.address)
    }

    private func countStart(
        _ address: String?, _ tools: DeskTools, at now: WallTime, _ rows: inout Rows
    ) throws(ServiceFailure) {
        guard let address else { return }
        let parsed = ClientAddress(address)
        guard parsed?.isLoopback != true else { return }
        // What is no address is counted under its own text: an odd spelling buys one budget, no
        // more.
        let counted = parsed?.text ?? address.prefix(bytesMax: 64)
        let window = FrequencyWindow(
            limit: configuration.startsByAddressPerHour, seconds: Self.addressHourSeconds)
        let verdict = tools.ledger.take(.starts(address: counted), [window], at: now, &rows)
        guard case .full(_, let wait) = verdict else { return }
        throw ServiceFailure(
            .addressLimit, "too many scenes were started from this address", field: "address",
            retryAfterMilliseconds: wait)
    }

    // MARK: Templates

    func templates(
        _ request: ListTemplates, _ context: CallContext
    ) async throws(ServiceFailure) -> TemplateList {
        var ids = StandardScenes.all.map(\.templateId)
        guard let code = request.schemeCode else {
            return TemplateList(
                templates: StandardScenes.all.map { graph in
                    TemplateSummary(
                        templateId: graph.templateId, name: graph.name,
                        configVersion: graph.configVersion,
                        nodes: graph.nodes.map {
                            TemplateNode(nodeId: $0.nodeId, kind: $0.kind, enabled: $0.enabled)
                        })
                })
        }
        let scheme = try await schemes.usable(code, context)
        for own in scheme.policy.templates ?? [] where !ids.contains(own.templateId) {
            ids.append(own.templateId)
        }
        return TemplateList(
            templates: ids.sorted().compactMap {
                SceneMap(scheme: scheme, templateId: $0, capabilities: ClientCapabilities())?
                    .summary
            })
    }
}
